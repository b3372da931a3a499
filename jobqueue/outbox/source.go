package outbox

import (
	"context"
	"errors"
	"time"
)

// ErrLeaseLost is returned by [Source.Settle] when somebody else holds the topic
// by now. Nothing was recorded.
var ErrLeaseLost = errors.New("the lease of the topic was lost")

// Source is where a [Relay] takes its batches from: store.DB.Outbox for
// messages to publish, store.DB.EventLog for a consumer group. Every method is
// a transaction of its own, or a few. Rows that others have locked are passed
// over, never waited for.
type Source interface {
	// Claim takes the lease of topics that have something to do and are held by
	// nobody, least recently served first, and returns their first batches.
	Claim(ctx context.Context, c Claim) (Claimed, error)
	// Settle records what became of a batch, if its lease is still the topic's,
	// else returns [ErrLeaseLost]. It renews the lease and returns the next
	// batch; if there is none, or none was asked for, it gives the lease back
	// and returns nil.
	Settle(ctx context.Context, s Settlement) (*Batch, error)
	// Watch calls wake whenever there may be events, until ctx ends; report is
	// told of failures, which are retried.
	Watch(ctx context.Context, wake func(), report func(error))
}

// Pruner is a [Source] whose published messages can be removed.
type Pruner interface {
	// Prune removes up to limit messages that were published before an age, and
	// up to limit events that are older than another, as far as nobody is to
	// read them any more. An age of 0 keeps all. It returns what it removed.
	Prune(ctx context.Context, messages, events time.Duration, limit int) (Pruned, error)
}

// Pruned is what [Pruner.Prune] has removed.
type Pruned struct{ Messages, Events int }

// Terms are those on which batches are claimed.
type Terms struct {
	Lease time.Duration // how long the topic is held
	Limit int           // at most so many events in a batch
	Bytes int           // of payload, in a batch of more than one event
}

// Claim asks for batches.
type Claim struct {
	Terms
	Holder string   // who will hold the topics
	Topics []string // only of these topics; nil: of all
	Except []string // not of these
	Count  int      // at most so many topics
	// Among are the only topics to look at, from an earlier Claimed.Ready, so
	// that not all need be listed for each that is claimed. nil: list them.
	Among []string
}

// Claimed is the answer to a [Claim].
type Claimed struct {
	Batches []Batch
	// Ready are more topics with something to do, least recently served first.
	// Empty if there were Claim.Among.
	Ready []string
	// Next is the time until a retry is due or a lease of others ends; negative
	// if there is neither.
	Next time.Duration
}

// Lease is the right to work on a topic.
type Lease struct {
	Topic, Holder string
	Token         int64 // rises with each lease of the topic
}

// Batch are the first events of a topic that are to be handed over.
type Batch struct {
	Lease Lease
	Items []Item
}

// Item is an event in a [Batch].
type Item struct {
	Event
	Attempts int // how often it was tried in vain
	Refusals int // how many of those the receiver refused for good
}

// Settlement is what became of a [Batch].
type Settlement struct {
	Lease    Lease
	Accepted []Item   // the receiver has them
	Failed   *Failure // what the next one ran into; nil: nothing
	More     bool     // give me the next batch
	Terms    Terms    // of the next batch
}

// Failure is an attempt in vain.
type Failure struct {
	Item    Item
	Problem string
	Delay   time.Duration // until it is tried again
	Refused bool          // counts as a refusal
	Dead    bool          // it is set aside
}
