package outbox

import (
	"context"
	"errors"
	"time"
)

// turn is how many batches of a topic a worker publishes before others may
// have theirs.
const turn = 20

// work publishes a batch and those after it, until there are none, one fails,
// the turn is over or running ends. The lease counts from asked on.
func (r *Relay) work(running, working context.Context, b *Batch, asked time.Time) {
	for n := 1; b != nil; n++ {
		settlement := r.publish(working, b, asked)
		settlement.More = settlement.Failed == nil && len(settlement.Accepted) == len(b.Items) &&
			n < turn && running.Err() == nil
		next, at, err := r.settle(working, settlement)
		if errors.Is(err, ErrLeaseLost) {
			r.notify(Notice{Kind: NoticeLost, Topic: b.Lease.Topic, Count: len(settlement.Accepted)})
			return
		}
		if err != nil {
			return // told already; the lease expires
		}
		r.report(settlement, time.Since(asked))
		b, asked = next, at
	}
}

// publish hands a batch over, for three quarters of the lease at most, so that
// there is time to record it.
func (r *Relay) publish(working context.Context, b *Batch, asked time.Time) Settlement {
	ctx, cancel := context.WithDeadline(working, asked.Add(r.cfg.Lease*3/4))
	defer cancel()
	events := make([]Event, len(b.Items))
	for i := range b.Items {
		events[i] = b.Items[i].Event
	}
	accepted := 0
	err := guard(func() (err error) {
		accepted, err = r.publisher.Publish(ctx, events)
		return err
	})
	accepted = min(max(accepted, 0), len(events))
	s := Settlement{Lease: b.Lease, Accepted: b.Items[:accepted], Terms: r.terms()}
	if accepted < len(events) && working.Err() == nil && !errors.Is(err, ErrNotTried) {
		s.Failed = r.failure(b.Items[accepted], err)
	}
	return s
}

// settle records what became of a batch, and tries again while the database
// cannot be reached: what is not recorded is published again. It returns the
// next batch and the time from which its lease counts.
func (r *Relay) settle(working context.Context, s Settlement) (*Batch, time.Time, error) {
	retry := backoff{least: 100 * time.Millisecond, most: 5 * time.Second}
	for {
		asked := time.Now()
		next, err := r.source.Settle(working, s)
		if err == nil || errors.Is(err, ErrLeaseLost) {
			return next, asked, err
		}
		r.fail("record what was published", err)
		timer := time.NewTimer(retry.next())
		select {
		case <-working.Done():
			timer.Stop()
			return nil, asked, working.Err()
		case <-timer.C:
		}
	}
}

// report tells of a batch that was recorded.
func (r *Relay) report(s Settlement, took time.Duration) {
	if len(s.Accepted) > 0 {
		r.notify(Notice{Kind: NoticePublished, Topic: s.Lease.Topic, Count: len(s.Accepted), Took: took})
	}
	if f := s.Failed; f != nil {
		n := Notice{Kind: NoticeFailed, Topic: s.Lease.Topic, Item: f.Item, Delay: f.Delay, Err: errors.New(f.Problem)}
		if f.Dead {
			n.Kind = NoticeDead
		}
		r.notify(n)
	}
}
