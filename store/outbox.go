package store

import (
	"context"
	"database/sql"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// OutboxStore is the outbox of a database. It implements [outbox.Source] for a
// relay and [outbox.Admin] for people. It is safe for concurrent use.
type OutboxStore struct{ db *DB }

var (
	_ outbox.Source = OutboxStore{}
	_ outbox.Pruner = OutboxStore{}
	_ outbox.Admin  = OutboxStore{}
)

// Outbox returns the outbox of the database.
func (db *DB) Outbox() OutboxStore { return OutboxStore{db} }

// Watch implements [outbox.Source].
func (s OutboxStore) Watch(ctx context.Context, wake func(), report func(error)) {
	s.db.dialect.watch(ctx, []topic{topicEvents}, wake, report)
}

// topicEvents stands for events that were added, or are to be sent again.
const topicEvents topic = "nextrun_event"

// isPending is the condition of the index nextrun_message_pending.
const isPending = `published IS NULL AND dead IS NULL`

// eventColumns are those of [eventRow], of event_store as e.
const eventColumns = `e.id, e.topic, e.type, e.aggregate_id, e.aggregate_version, e.payload, e.due, e.created, e.position`

// eventRow is a row of event_store.
type eventRow struct {
	ID               string
	Topic            string
	Type             string
	AggregateID      string `db:"aggregate_id"`
	AggregateVersion int64  `db:"aggregate_version"`
	Payload          string
	Due              Timestamp
	Created          Timestamp
	Position         sql.NullInt64
}

func (r eventRow) event() outbox.Event {
	return outbox.Event{
		ID: r.ID, Topic: r.Topic, Type: r.Type, AggregateID: r.AggregateID, AggregateVersion: r.AggregateVersion,
		Payload: r.Payload, Due: r.Due.Time(), Created: r.Created.Time(), Position: r.Position.Int64,
	}
}

// leaseRow is a lease that was taken.
type leaseRow struct {
	Topic string
	Token int64
}
