// Package events keeps events and their delivery, in the tables event_store,
// outbox_message and event_aggregate; the leases of topics are rows of scheduler_lock. [Outbox] is what
// relays publish, and [Sink] turns ticks into events.
package events

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/store/internal/workers"
)

// Outbox is the outbox of a database. It implements [relay.Source] for a
// relay and [outbox.Admin] for people. It is safe for concurrent use.
type Outbox struct{ db *sqldb.DB }

var (
	_ relay.Source = Outbox{}
	_ outbox.Admin = Outbox{}
)

// New returns the outbox of a database.
func New(db *sqldb.DB) Outbox { return Outbox{db} }

// Watch implements [relay.Source].
func (s Outbox) Watch(ctx context.Context, worker string, wake func(), report func(error)) {
	workers.Watch(ctx, s.db, workers.Worker{ID: worker, Kind: "relay"}, wake, report, sqldb.TopicEvents)
}

// isPending is the condition of the index nextrun_message_pending.
const isPending = `published IS NULL AND dead IS NULL`

// eventRow is a row of event_store. Anybody may have written it, so that it may
// hold values of any type (SQLite).
type eventRow struct {
	ID               string
	Topic            string
	Type             string
	AggregateID      string       `db:"aggregate_id"`
	AggregateVersion sqldb.RowInt `db:"aggregate_version"`
	Payload          string
	Due              sqldb.RowTime
	Created          sqldb.RowTime
	Traceparent      sqldb.RowText
}

func (r eventRow) event() outbox.Event {
	return outbox.Event{
		ID: r.ID, Topic: r.Topic, Type: r.Type, AggregateID: r.AggregateID, AggregateVersion: int64(r.AggregateVersion.N),
		Payload: r.Payload, Due: r.Due.Time(), Created: r.Created.Time(),
		Traceparent: traceparent.Clean(string(r.Traceparent)),
	}
}

// unreadable says which column of an event has no value of its type; empty: none.
func (r eventRow) unreadable() string {
	var column string
	switch {
	case !utf8.ValidString(r.ID):
		column = "id is not text"
	case !r.AggregateVersion.OK:
		column = "aggregate_version is not a whole number"
	case r.Created.Time().IsZero():
		column = "created is not a time"
	default:
		return ""
	}
	return fmt.Sprintf("event %q cannot be read: %s; repair its row of event_store", r.ID, column)
}
