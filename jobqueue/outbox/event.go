package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue"
)

// Bounds of [Event].
const (
	maxText    = 254      // characters of a name
	maxPayload = 64 << 20 // bytes
)

// ErrInvalid is returned by [AppendTx] for an event that cannot be stored. The
// message names the field and the bound.
var ErrInvalid = errors.New("invalid event")

// Event is a row of the table event_store: something that happened. Times are
// UTC with microseconds; the zero time means NULL.
type Event struct {
	ID               string    // unique; receivers recognize duplicates by it; if it is empty, [AppendTx] makes one
	Topic            string    // where it is published; of a task: its group
	Type             string    // what happened; of a task: the task
	AggregateID      string    // what it happened to; of a task: its id
	AggregateVersion int64     // 1 for the first event of the aggregate, one more for each; set by the store
	Payload          string    // the data, by convention JSON
	Due              time.Time // the tick that it is for, at most one event of an aggregate for each; zero: none
	Created          time.Time // when it was appended, by the database's clock; set by the store
	Traceparent      string    // of who appended it, as the W3C's header has it; empty: none
}

// validate names the field and the bound of what is wrong.
func (e *Event) validate() error {
	names := []struct{ field, value string }{
		{"ID", e.ID}, {"Topic", e.Topic}, {"Type", e.Type}, {"AggregateID", e.AggregateID},
	}
	for _, n := range names {
		switch {
		case n.value == "":
			return fmt.Errorf("%w: %s is empty", ErrInvalid, n.field)
		case !text.Valid(n.value) || utf8.RuneCountInString(n.value) > maxText:
			return fmt.Errorf("%w: %s is no UTF-8 text of at most %d characters without NUL", ErrInvalid, n.field, maxText)
		}
	}
	switch {
	case !text.Valid(e.Payload) || len(e.Payload) > maxPayload:
		return fmt.Errorf("%w: Payload is no UTF-8 text of at most %d bytes without NUL", ErrInvalid, maxPayload)
	case e.AggregateVersion != 0:
		return fmt.Errorf("%w: AggregateVersion is set by the store", ErrInvalid)
	}
	return nil
}

// Tx is a transaction in which events can be appended: a *store.Tx, or the
// caller's own transaction wrapped by store.DB.EventsIn.
type Tx interface {
	// AppendEvents adds events and their messages. It returns them, in order,
	// with what the store has set.
	AppendEvents(ctx context.Context, events []Event) ([]Event, error)
}

// AppendTx appends events in the caller's transaction and returns them with ID,
// AggregateVersion and Created set. They are published if, and after, the
// caller commits. Until then other writers of the same aggregates wait. Append
// the events of several aggregates in one call: it locks them in an order in which
// two writers cannot deadlock.
//
// An event without a valid Traceparent gets that of the context, if a handler appends it.
//
// If an event is not valid, AppendTx returns an error that wraps [ErrInvalid] and
// does not touch the database. If the id exists already, or the due of that
// aggregate, the error wraps store.ErrDuplicate. Roll the transaction back after
// an error.
func AppendTx(ctx context.Context, tx Tx, events ...Event) ([]Event, error) {
	events = slices.Clone(events)
	for i := range events {
		if events[i].ID == "" {
			events[i].ID = jobqueue.NewID()
		}
		events[i].Traceparent = cmp.Or(traceparent.Clean(events[i].Traceparent), traceparent.Of(ctx))
		if err := events[i].validate(); err != nil {
			return nil, err
		}
	}
	if len(events) == 0 {
		return nil, nil
	}
	return tx.AppendEvents(ctx, events)
}
