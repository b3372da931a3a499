package relay

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// settle records what became of a batch, and tries again while that fails: what is not recorded is published again.
// Meanwhile another worker takes the place of this one. It returns the next batch if s asks for it and nothing failed.
func (w *worker) settle(s Settlement) (*Batch, error) {
	next, err := w.source.Settle(w.hard, s)
	if err == nil || errors.Is(err, ErrLeaseLost) {
		return next, err
	}
	w.said <- said{topic: s.Lease.Topic, stuck: true}
	pace := service.Backoff{Least: 100 * time.Millisecond, Most: min(10*time.Second, w.cfg.Lease/3)}
	for told := false; ; told = true {
		if s, err = w.settleApart(s); err == nil || errors.Is(err, ErrLeaseLost) {
			return nil, err
		}
		if !told && w.hard.Err() == nil {
			w.tellUnrecorded(s, err)
		}
		until := w.hard
		if row := (*RowError)(nil); errors.As(err, &row) {
			until = w.soft // a row that the database refuses delays no stop
		}
		if !pause(until, pace.Next()) {
			return nil, err
		}
	}
}

// settleApart renews the lease and records the events of a settlement one by one. It returns what is not recorded, and
// why. When all is recorded it gives the lease back.
func (w *worker) settleApart(s Settlement) (rest Settlement, err error) {
	one := Settlement{Lease: s.Lease, Terms: s.Terms, After: KeepLease, Brief: true}
	if _, err := w.source.Settle(w.hard, one); err != nil {
		return s, err
	}
	rest, row := s, (*RowError)(nil)
	rest.Accepted = nil
	for i, item := range s.Accepted {
		one.Accepted = s.Accepted[i : i+1]
		if _, failed := w.source.Settle(w.hard, one); errors.As(failed, &row) {
			rest.Accepted, err = append(rest.Accepted, item), failed
		} else if failed != nil {
			return s, failed
		}
	}
	if s.Failed != nil {
		one.Accepted, one.Failed = nil, s.Failed
		if _, failed := w.source.Settle(w.hard, one); failed != nil {
			return rest, failed
		}
		rest.Failed = nil
	}
	if err == nil {
		_, err = w.source.Settle(w.hard, Settlement{Lease: s.Lease, Brief: true})
	}
	return rest, err
}

// pause waits before the next try. It returns false if ctx ends.
func pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// tellUnrecorded tells why a settlement was not recorded. If a row is to blame, it is the first event that is left, or
// the lease.
func (w *worker) tellUnrecorded(s Settlement, err error) {
	if row := (*RowError)(nil); !errors.As(err, &row) {
		w.fail("record what was published", err)
		return
	}
	n := Notice{Kind: NoticeHeldUp, Topic: s.Lease.Topic, Err: err}
	switch {
	case len(s.Accepted) > 0:
		n.Event, n.Attempts = s.Accepted[0].Event, s.Accepted[0].Attempts+1
	case s.Failed != nil:
		n.Event, n.Attempts = s.Failed.Item.Event, s.Failed.Item.Attempts+1
	}
	w.notify(n)
}
