package relay

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// batchesPerTurn is how many batches of a topic a worker publishes before it is another
// topic's turn.
const batchesPerTurn = 20

// worker publishes the batches of one topic.
type worker struct {
	*Relay

	soft, hard context.Context //nolint:containedctx // of one call
	terms      Terms
}

// settleWithin is how long a stop waits for a lease, or a record of what was published.
const settleWithin = 5 * time.Second

// work leases a topic, and publishes batches until there are none, one fails, the turn is over or soft ends. Its error
// says why the topic cannot go on.
func (w *worker) work(topic string) error {
	asked := time.Now() // the lease counts from then on
	leasing, end := service.Finishing(w.soft, w.hard, settleWithin)
	b, err := w.source.Lease(leasing, w.holder, topic, w.terms)
	end()
	for n := 1; b != nil && err == nil; n++ {
		s := w.publish(b, asked)
		s.Next = !w.terms.Careful && s.Failed == nil && len(s.Accepted) == len(b.Items) && n < batchesPerTurn && w.soft.Err() == nil
		began := asked
		asked = time.Now()
		settling, end := service.Finishing(w.soft, w.hard, settleWithin)
		b, err = w.source.Settle(settling, s)
		end()
		if err == nil {
			w.tellRecorded(s, time.Since(began))
		}
	}
	return err
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
	s := Settlement{Lease: b.Lease, Terms: w.terms}
	accepted, err, to := 0, error(nil), w.receiver(b)
	if len(events) > 0 {
		accepted, err = w.deliver(ctx, to, events)
	}
	s.Accepted = b.Items[:accepted]
	switch {
	case accepted == len(b.Items):
	case accepted == len(events):
		item := b.Items[accepted]
		s.Failed = w.failure(item, jobqueue.Permanent(errors.New(item.Problem)))
		s.Failed.Dead = true
	case w.hard.Err() == nil && !errors.Is(err, outbox.ErrNotTried):
		if s.Failed = w.failure(b.Items[accepted], err); s.Failed.Dead {
			w.blame(ctx, &s, to, events[accepted+1:], b.Items[accepted+1:])
		}
	}
	return s
}

// Whose fault it is that an event is refused.
const (
	triedBehind  = 3   // of the events behind it
	refusedAlike = 500 // it is dead after so many refusals in any case: some hours, with the default RetryMax
)

// blame leaves an event dead that was refused too often only if the receiver accepts one of those behind it. Otherwise the
// receiver may refuse all events, which is no fault of this one, and the topic waits.
func (w *worker) blame(ctx context.Context, s *Settlement, to outbox.Publisher, behind []outbox.Event, items []Item) {
	for i := range min(len(behind), triedBehind) {
		accepted, err := w.deliver(ctx, to, behind[i:])
		if accepted > 0 {
			s.Accepted = slices.Concat(s.Accepted, items[i:i+accepted])
			return
		}
		if !jobqueue.IsPermanent(err) {
			break
		}
	}
	s.Failed.Dead = s.Failed.Item.Refusals+1 >= refusedAlike
}

// Tracer makes the spans of relays. It must be safe for concurrent use.
type Tracer interface {
	// Deliver begins the span of events of a topic that are handed over together. The receiver gets the context that it
	// returns, and passes the W3C traceparent on. end is called once, when it
	// has returned, with how many events it accepted and its error.
	Deliver(ctx context.Context, events []outbox.Event) (of context.Context, traceparent string, end func(int, error))
}

// deliver hands events to their receiver, in a span.
func (w *worker) deliver(ctx context.Context, to outbox.Publisher, events []outbox.Event) (accepted int, err error) {
	end := func(int, error) {}
	if w.cfg.Tracer != nil {
		var own string
		ctx, own, end = w.cfg.Tracer.Deliver(ctx, events)
		ctx = traceparent.With(ctx, own)
	}
	err = service.Guard(func() (err error) {
		accepted, err = to.Publish(ctx, events)
		return err
	})
	accepted = min(max(accepted, 0), len(events))
	end(accepted, err)
	return accepted, err
}

// receiver is the publisher of a batch.
func (w *worker) receiver(b *Batch) outbox.Publisher {
	if w.consume == nil {
		return w.publisher
	}
	next := 0
	return outbox.OneByOne(func(ctx context.Context, _ outbox.Event) error {
		err := w.source.Consume(ctx, b.Lease, w.terms, b.Items[next], w.consume)
		next++
		var failed *RowError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &failed):
			return failed.Err
		case !errors.Is(err, ErrLeaseLost):
			w.fail("consume events", err)
		}
		return outbox.ErrNotTried
	})
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

// maxProblem is how much of an error's text is kept, in bytes.
const maxProblem = 2000

// maxRetryAfter bounds the time that a receiver may ask for.
const maxRetryAfter = time.Hour

var errNoReason = errors.New("the publisher gave no reason")

// failure is what a failed attempt means for an item.
func (r *Relay) failure(item Item, err error) *Failure {
	if err == nil {
		err = errNoReason
	}
	f := &Failure{Item: item, Problem: text.Clean(err.Error(), maxProblem), Refused: jobqueue.IsPermanent(err)}
	limit := r.cfg.refusalLimit(item.Topic)
	f.Dead = f.Refused && limit != jobqueue.Never && item.Refusals+1 >= limit
	var asked service.DelayedError
	_ = errors.As(err, &asked)
	f.Delay = max(
		service.Delay(item.Attempts+1, r.cfg.RetryMin, r.cfg.RetryMax),
		min(asked.Delay, max(maxRetryAfter, r.cfg.RetryMax)),
	)
	return f
}
