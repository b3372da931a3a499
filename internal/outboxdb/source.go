// Package outboxdb is what a relay asks of a database; package store implements it.
package outboxdb

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// ErrLeaseLost is returned by [Source.Settle] when somebody else holds the topic
// by now. Nothing was recorded.
var ErrLeaseLost = errors.New("the lease of the topic was lost")

// UnrecordedError is returned by [Source.Settle] when the database refuses to
// record a part of a settlement, or somebody holds a lock that it needs. The
// rest is recorded, and the lease is kept where that is possible.
type UnrecordedError struct {
	Rest   Settlement // what is still to be recorded
	Locked bool       // somebody holds a lock
	Err    error      // why, and what to do about it
}

// Error implements error.
func (e *UnrecordedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnrecordedError) Unwrap() error { return e.Err }

// ConsumeError is returned by [Source.Consume] when the event is to blame.
type ConsumeError struct{ Err error }

// Error implements error.
func (e *ConsumeError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ConsumeError) Unwrap() error { return e.Err }

// Source is where a relay takes its batches from: store.DB.Outbox. Every method is
// one transaction or a few. A row that fails, or that somebody has locked, holds
// up its own topic only: an error of a method concerns all topics.
type Source interface {
	// Claim takes the leases of topics that have something to do and that nobody
	// holds, least recently served first, and returns their first batches.
	Claim(ctx context.Context, c Claim) (Claimed, error)
	// Settle records what became of a batch, if its lease is still the topic's.
	// Otherwise it returns [ErrLeaseLost]. If s asks for the next batch, Settle
	// renews the lease and returns that batch. If there is none, or s does not
	// ask for it, Settle gives the lease back and returns nil.
	Settle(ctx context.Context, s Settlement) (*Batch, error)
	// Consume calls fn in a transaction that records an event as published, and renews the lease if it is still
	// the topic's; otherwise it returns [ErrLeaseLost]. An error of fn, or one that what it wrote leads to, is
	// a [ConsumeError]. Settling the event once more does no harm.
	Consume(ctx context.Context, l Lease, t Terms, i Item, fn outbox.Consumer) error
	// Watch calls wake whenever there may be events, until ctx ends. It calls
	// report with each failure, and tries again. Meanwhile the store can tell that
	// the holder lives, and does not give its topics to others; an empty one is nobody.
	Watch(ctx context.Context, holder string, wake func(), report func(error))
}

// Pruner is a [Source] whose published messages can be removed.
type Pruner interface {
	// Prune removes up to limit messages that were published before an age, and
	// up to limit events that are older than another age and that
	// have no message any more. An age of 0 keeps all. It returns what it removed, also
	// beside an error about rows that cannot be removed.
	Prune(ctx context.Context, messages, events time.Duration, limit int) (Pruned, error)
}

// Pruned is what [Pruner.Prune] has removed.
type Pruned struct{ Messages, Events int }

// Terms are those on which batches are claimed.
type Terms struct {
	Lease time.Duration // how long the topic is held
	Limit int           // maximum number of events in a batch
	Bytes int           // maximum payload of a batch of more than one event
}

// Claim asks for batches.
type Claim struct {
	Terms

	Holder string   // who will hold the topics
	Topics []string // only these topics; nil: all
	Except []string // not these: the holder works on them
	Held   []string // not these: they are held up
	Count  int      // maximum number of topics; 0: only list those that are ready
	Ended  []string // holders that have ended, from the Claimed that listed Among
	// Among are the only topics to claim, from an earlier Claimed.Ready, so that
	// not all topics are listed for each one that is claimed. nil: list them.
	Among []string
	// Alone means that the topic in Among was held up before: handle it completely,
	// and wait for locks for a few milliseconds only.
	Alone bool
}

// Claimed is the answer to a [Claim].
type Claimed struct {
	Batches []Batch
	// Ready are more topics with something to do, least recently served first.
	// Empty if Claim.Among was given.
	Ready []string
	// Next is the time until a retry is due or somebody's lease ends; negative
	// if there is neither.
	Next time.Duration
	// Ended are holders of topics that have ended. Empty if Claim.Among was given.
	Ended []string
	// Held are topics that could not be claimed. Leave them out for a while.
	Held []HeldUp
}

// HeldUp is a topic that could not be claimed.
type HeldUp struct {
	Topic  string
	Locked bool  // somebody holds a lock, perhaps only for a moment
	Err    error // why, and what to do about it
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
	After    After    // what becomes of the lease
	Terms    Terms    // of the next batch
	Brief    bool     // it failed before: wait for locks for a few milliseconds only
}

// After is what becomes of a topic's lease once a batch is recorded.
type After int

// The values of [After].
const (
	GiveBack  After = iota // others may take the topic
	KeepLease              // renew it, without a next batch
	NextBatch              // renew it, and return the next batch
)

// Failure is a failed attempt.
type Failure struct {
	Item    Item
	Problem string
	Delay   time.Duration // until the next attempt
	Refused bool          // counts as a refusal
	Dead    bool          // the message is set aside
}
