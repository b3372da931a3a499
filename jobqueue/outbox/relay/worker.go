package relay

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// batchesPerTurn is how many batches of a topic a worker publishes before it is another
// topic's turn.
const batchesPerTurn = 20

// worker publishes the batches of one topic.
type worker struct {
	*Relay

	soft, hard context.Context //nolint:containedctx // of one call
	workers    workers
	hasPlace   bool // it has one of the workers' places
}

// work publishes a batch and those after it, until there are none, one fails,
// the turn is over or soft ends. The lease counts from asked on.
func (w *worker) work(b *outboxdb.Batch, asked time.Time) {
	w.hasPlace = w.workers.takePlace(w.soft)
	unused := outboxdb.Settlement{Lease: b.Lease, Terms: w.terms()}
	if !w.hasPlace {
		_, _, _ = w.settle(unused)
		return
	}
	defer w.workers.leavePlace()
	unused.After = outboxdb.NextBatch
	for n := 1; b != nil; n++ {
		if time.Since(asked) > w.cfg.Lease/4 { // it waited too long
			if b, asked, _ = w.settle(unused); b == nil {
				break
			}
		}
		settlement := w.publish(b, asked)
		if settlement.Failed == nil && len(settlement.Accepted) == len(b.Items) && n < batchesPerTurn && w.soft.Err() == nil {
			settlement.After = outboxdb.NextBatch
		}
		next, at, err := w.settle(settlement)
		if errors.Is(err, outboxdb.ErrLeaseLost) {
			w.notify(Notice{Kind: NoticeLost, Topic: b.Lease.Topic, Count: len(settlement.Accepted)})
		}
		if err != nil {
			break // already reported; the lease expires
		}
		w.tellRecorded(settlement, time.Since(asked))
		b, asked = next, at
	}
}

// publish hands a batch over. It takes at most three quarters of the lease, so that
// time is left to record the batch.
func (w *worker) publish(b *outboxdb.Batch, asked time.Time) outboxdb.Settlement {
	ctx, cancel := context.WithDeadline(w.hard, asked.Add(w.cfg.Lease*3/4))
	defer cancel()
	var events []outbox.Event
	for _, item := range b.Items {
		if item.Problem != "" {
			break
		}
		events = append(events, item.Event)
	}
	s := outboxdb.Settlement{Lease: b.Lease, Terms: w.terms()}
	accepted, err := 0, error(nil)
	if len(events) > 0 {
		accepted, err = w.deliver(ctx, w.receiver(b), events)
	}
	s.Accepted = b.Items[:accepted]
	switch {
	case accepted == len(b.Items):
	case accepted == len(events):
		s.Failed = w.unpublishable(b.Items[accepted])
	case w.hard.Err() == nil && !errors.Is(err, outbox.ErrNotTried):
		s.Failed = w.failure(b.Items[accepted], err)
	}
	return s
}

// tellRecorded notifies of a batch that was recorded.
func (w *worker) tellRecorded(s outboxdb.Settlement, took time.Duration) {
	if len(s.Accepted) > 0 {
		w.notify(Notice{Kind: NoticePublished, Topic: s.Lease.Topic, Count: len(s.Accepted), Took: took})
	}
	f := s.Failed
	if f == nil || f.Item.Problem != "" && f.Item.Attempts > 0 { // an event that cannot be read is named once
		return
	}
	n := Notice{Kind: NoticeFailed, Topic: s.Lease.Topic, Event: f.Item.Event, Attempts: f.Item.Attempts + 1, Delay: f.Delay, Err: errors.New(f.Problem)}
	if f.Dead {
		n.Kind = NoticeDead
	}
	w.notify(n)
}
