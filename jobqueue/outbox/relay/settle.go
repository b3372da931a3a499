package relay

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/service"
)

// stopGrace is how long a settlement that the database refuses may delay a
// stop.
const stopGrace = time.Second

// settle records what became of a batch, and tries again while that fails: what
// is not recorded is published again. While it fails or is slow, the worker leaves its
// place to others. settle returns the next batch and the time from which its lease counts.
func (w *worker) settle(s outboxdb.Settlement) (next *outboxdb.Batch, asked time.Time, err error) {
	pace := service.Backoff{Least: 100 * time.Millisecond, Most: min(10*time.Second, w.cfg.Lease/3)}
	named := map[string]bool{}
	grace, cancel := w.withGrace()
	defer cancel()
	aside, back := w.stepAside(s.Lease.Topic)
	defer back()
	for {
		next, asked, err = w.settleOnce(s)
		if err == nil || errors.Is(err, outboxdb.ErrLeaseLost) {
			return next, asked, err
		}
		refused := (*outboxdb.UnrecordedError)(nil)
		if errors.As(err, &refused) {
			s = refused.Rest
			s.Brief = true
		}
		aside()
		w.tellUnrecorded(s, refused, err, named)
		until := w.hard
		if refused != nil {
			until = grace
		}
		if !pause(until, pace.Next()) {
			return nil, asked, err
		}
	}
}

// settleOnce settles, and notes whether the topic is slow to settle. Only some of those that are
// known as slow are settled at a time.
func (w *worker) settleOnce(s outboxdb.Settlement) (next *outboxdb.Batch, asked time.Time, err error) {
	topic := s.Lease.Topic
	_, slow := w.slowToSettle.Load(topic)
	if slow {
		w.workers.slowPlaces <- struct{}{}
		defer func() { <-w.workers.slowPlaces }()
	}
	asked = time.Now()
	next, err = w.source.Settle(w.hard, s)
	switch took := time.Since(asked); {
	case err != nil:
	case took < slowRow:
		w.slowToSettle.Delete(topic)
	case slow:
		w.nameSlow(topic, took)
	default:
		w.slowToSettle.Store(topic, true)
	}
	return next, asked, err
}

// stepAside returns what leaves the worker's place to others, which happens by itself when a
// settlement is slow, and what takes a place again.
func (w *worker) stepAside(topic string) (aside, back func()) {
	var once sync.Once
	stuck := false
	aside = func() {
		once.Do(func() {
			stuck = true
			w.workers.setStuck(1)
			if w.hasPlace {
				w.workers.leavePlace()
			}
		})
	}
	if _, slow := w.slowToSettle.Load(topic); slow {
		aside()
	}
	timer := time.AfterFunc(slowRow, aside)
	return aside, func() {
		timer.Stop()
		once.Do(func() {}) // the timer may just have fired
		if stuck {
			w.workers.setStuck(-1)
		}
		if stuck && w.hasPlace {
			w.workers.places <- struct{}{}
		}
	}
}

// withGrace is the context in which a settlement that the database refuses is
// tried again: it ends soon after soft does.
func (w *worker) withGrace() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(w.hard)
	stop := context.AfterFunc(w.soft, func() {
		timer := time.AfterFunc(stopGrace, cancel)
		context.AfterFunc(ctx, func() { timer.Stop() })
	})
	return ctx, func() { stop(); cancel() }
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

// tellUnrecorded tells why a settlement was not recorded: each event that is to
// blame once, and each other cause once.
func (w *worker) tellUnrecorded(s outboxdb.Settlement, refused *outboxdb.UnrecordedError, err error, named map[string]bool) {
	if refused == nil {
		if !named[err.Error()] {
			named[err.Error()] = true
			w.fail("record what was published", err)
		}
		return
	}
	var blamed outboxdb.Item
	switch {
	case len(s.Accepted) > 0:
		blamed = s.Accepted[0]
	case s.Failed != nil:
		blamed = s.Failed.Item
	}
	n := Notice{Kind: NoticeHeldUp, Topic: s.Lease.Topic, Event: blamed.Event, Attempts: blamed.Attempts + 1, Err: refused.Err}
	if key := n.Topic + "\x00" + n.Event.ID; !named[key] {
		named[key] = true
		w.notify(n)
	}
}
