package outbox

import (
	"cmp"
	"context"
	"slices"

	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue"
)

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
