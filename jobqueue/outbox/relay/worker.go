package relay

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// batchesPerTurn is how many batches of a topic a worker publishes before it is another
// topic's turn.
const batchesPerTurn = 20

// worker publishes the batches of one topic.
type worker struct {
	*Relay

	soft, hard context.Context //nolint:containedctx // of one call
}

// work leases a topic, and publishes batches until there are none, one fails, the turn is over or soft ends. Where a batch
// was published that could not be recorded, it records that. Its error says why the topic cannot go on: it cannot be leased,
// or the rest not be recorded.
func (w *worker) work(topic string, unrecorded *Settlement) (rest *Settlement, err error) {
	if unrecorded != nil {
		_, rest, err = w.settle(*unrecorded)
		return rest, err
	}
	asked := time.Now() // the lease counts from then on
	b, err := w.source.Lease(w.hard, w.holder, topic, w.terms())
	if err != nil {
		return nil, err
	}
	for n := 1; b != nil; n++ {
		s := w.publish(b, asked)
		if s.Failed == nil && len(s.Accepted) == len(b.Items) && n < batchesPerTurn && w.soft.Err() == nil {
			s.After = NextBatch
		}
		began := asked
		asked = time.Now()
		if b, rest, err = w.settle(s); err != nil {
			return rest, err
		}
		w.tellRecorded(s, time.Since(began))
	}
	return nil, nil
}

// publish hands a batch over. It takes at most three quarters of the lease, so that
// time is left to record the batch.
func (w *worker) publish(b *Batch, asked time.Time) Settlement {
	ctx, cancel := context.WithDeadline(w.hard, asked.Add(w.cfg.Lease*3/4))
	defer cancel()
	var events []outbox.Event
	for _, item := range b.Items {
		if item.Problem != "" {
			break
		}
		events = append(events, item.Event)
	}
	s := Settlement{Lease: b.Lease, Terms: w.terms()}
	accepted, err := 0, error(nil)
	if len(events) > 0 {
		accepted, err = w.deliver(ctx, w.receiver(b), events)
	}
	s.Accepted = b.Items[:accepted]
	switch {
	case accepted == len(b.Items):
	case accepted == len(events):
		item := b.Items[accepted]
		s.Failed = w.failure(item, outbox.RefuseUpTo(1, errors.New(item.Problem)))
	case w.hard.Err() == nil && !errors.Is(err, outbox.ErrNotTried):
		s.Failed = w.failure(b.Items[accepted], err)
	}
	return s
}

// tellRecorded notifies of a batch that was recorded.
func (w *worker) tellRecorded(s Settlement, took time.Duration) {
	if len(s.Accepted) > 0 {
		w.notify(Notice{Kind: NoticePublished, Topic: s.Lease.Topic, Count: len(s.Accepted), Took: took})
	}
	f := s.Failed
	if f == nil {
		return
	}
	n := Notice{Kind: NoticeFailed, Topic: s.Lease.Topic, Event: f.Item.Event, Attempts: f.Item.Attempts + 1, Delay: f.Delay, Err: errors.New(f.Problem)}
	if f.Dead {
		n.Kind = NoticeDead
	}
	w.notify(n)
}
