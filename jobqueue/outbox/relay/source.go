package relay

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// ErrLeaseLost is returned by a [Source] if somebody else holds the topic by now. Nothing was recorded.
var ErrLeaseLost = errors.New("the lease of the topic was lost")

// RowError is returned by a [Source] if rows of one topic are to blame: the database refuses them, or somebody has
// locked one. Other errors concern all topics.
type RowError struct{ Err error }

// Error implements error.
func (e *RowError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RowError) Unwrap() error { return e.Err }

// Source is where a [Relay] takes its batches from: store.DB.Outbox. Every method but Watch is one transaction, about
// one topic.
type Source interface {
	// Topics lists the topics with events to publish, the one with the oldest event first: only those that are named;
	// nil: all.
	Topics(ctx context.Context, holder string, only []string) ([]Topic, error)
	// Lease takes the lease of a topic, and returns its first batch; nil: somebody else holds it, or nothing is to be
	// published now.
	Lease(ctx context.Context, holder, topic string, terms Terms) (*Batch, error)
	// Settle records what became of a batch, all or nothing. It renews the lease and returns the next batch if s asks for
	// it. If it does not, or there is none, it gives the lease back.
	Settle(ctx context.Context, s Settlement) (*Batch, error)
	// Consume calls fn in a transaction that records an event as published and renews the lease. An error of fn, or
	// one that what it wrote leads to, is a [RowError]. Settling the event once more does no harm.
	Consume(ctx context.Context, l Lease, t Terms, i Item, fn outbox.Consumer) error
	// Watch calls wake whenever there may be events, until ctx ends. It calls report with each failure, and tries again.
	Watch(ctx context.Context, holder string, wake func(), report func(error))
}

// Topic is a topic with events to publish.
type Topic struct {
	Name string
	Wait time.Duration // until somebody else's lease ends, or an event is to be tried again; 0: it is ready
}

// Terms are those on which topics are leased.
type Terms struct {
	Lease time.Duration // how long the topic is held
	Limit int           // maximum number of events in a batch
	// Careful leases a topic only if the first event's message can be written: it could not go on before.
	Careful bool
}

// Lease is the right to work on a topic.
type Lease struct {
	Topic, Holder string
	Token         int64 // of this lease, at random
}

// Batch is the first events of a topic that are to be handed over.
type Batch struct {
	Lease Lease
	Items []Item
}

// Item is an event in a [Batch].
type Item struct {
	outbox.Event

	Message  int64  // id in outbox_message
	Attempts int    // failed attempts
	Refusals int    // how many of those the receiver refused for good
	Problem  string // why the event cannot be handed over; empty: it can
}

// Settlement is what became of a [Batch].
type Settlement struct {
	Lease    Lease
	Accepted []Item   // the receiver has them
	Failed   *Failure // the attempt to hand over the next event; nil: none failed
	Next     bool     // renew the lease and return the next batch
	Terms    Terms    // of the lease and of the next batch
}

// Failure is a failed attempt.
type Failure struct {
	Item    Item
	Problem string
	Delay   time.Duration // until the next attempt
	Refused bool          // counts as a refusal
	Dead    bool          // the message is set aside
}
