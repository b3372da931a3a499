package outbox

import (
	"context"
	"slices"

	"github.com/nextrun/nextrun/jobqueue"
)

// Tx is a transaction that events can be appended in: a *store.Tx, or what
// store.DB.EventsIn makes of a transaction of the caller's.
type Tx interface {
	// AppendEvents adds events and their messages. It returns them, in order,
	// with what the store has set.
	AppendEvents(ctx context.Context, events []Event) ([]Event, error)
}

// AppendTx appends events in the caller's transaction and returns them with ID,
// AggregateVersion and Created set. They are published if, and after, the
// caller commits. Until then other writers of the same aggregates wait; events
// of several aggregates belong in one call, which takes them in an order in
// which two writers cannot wait for each other.
//
// It returns an error that wraps [ErrInvalid] before it has touched the
// database, or the store's: an id, or a due of that aggregate, that exists
// already is store.ErrDuplicate. After an error the transaction must be rolled
// back.
func AppendTx(ctx context.Context, tx Tx, events ...Event) ([]Event, error) {
	events = slices.Clone(events)
	for i := range events {
		if events[i].ID == "" {
			events[i].ID = jobqueue.NewID()
		}
		if err := events[i].validate(); err != nil {
			return nil, err
		}
	}
	if len(events) == 0 {
		return nil, nil
	}
	return tx.AppendEvents(ctx, events)
}
