package events

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// appended is an event that is about to be written.
type appended struct {
	id, aggregate string
	version       int64
}

// Append adds events and their messages, as [outbox.Tx] says. [outbox.AppendTx] has checked them.
func Append(ctx context.Context, tx *sqldb.Tx, events []outbox.Event) ([]outbox.Event, error) {
	rows := make([]appended, len(events))
	for i, e := range events {
		rows[i] = appended{id: e.ID, aggregate: e.AggregateID}
	}
	if err := nextVersions(ctx, tx, rows); err != nil {
		return nil, fmt.Errorf("append events: %w", err)
	}
	if err := addEvents(ctx, tx, events, rows); err != nil {
		return nil, fmt.Errorf("append events: %w", err)
	}
	for i := range events {
		events[i].AggregateVersion, events[i].Created = rows[i].version, tx.Now()
	}
	return events, nil
}

// addEvents adds events, whose versions are in rows, and their messages.
func addEvents(ctx context.Context, tx *sqldb.Tx, events []outbox.Event, rows []appended) error {
	columns := []sqldb.Field{sqldb.Int("ordinal"), sqldb.Text("id"), sqldb.Text("topic"), sqldb.Text("type"),
		sqldb.Text("aggregate_id"), sqldb.Int("aggregate_version"), sqldb.Text("payload"), sqldb.Time("due"),
		sqldb.Time("created"), sqldb.Text("traceparent")}
	r := tx.DB().Records(1, columns, len(events), func(i int) []any {
		e := &events[i]
		return []any{i, e.ID, e.Topic, e.Type, e.AggregateID, rows[i].version, e.Payload, e.Due, tx.Now(), sqldb.Nullable(e.Traceparent)}
	})
	_, err := tx.Exec(ctx, `INSERT INTO event_store
			(id, topic, type, aggregate_id, aggregate_version, payload, due, created, traceparent)
		SELECT id, topic, type, aggregate_id, aggregate_version, payload, due, created, traceparent
		FROM `+r.SQL+` AS v ORDER BY ordinal`, r.Param)
	if err != nil {
		return err
	}
	return addMessages(ctx, tx, rows)
}

// nextVersions gives each event the next version of its aggregate. Writers of
// an aggregate wait here for each other until they commit, so that versions
// have no gaps and are committed in order; aggregates are locked in the order
// of their ids, so that two writers of several do not block each other.
func nextVersions(ctx context.Context, tx *sqldb.Tx, rows []appended) error {
	counts := map[string]int64{}
	var ids []string
	for _, e := range rows {
		if counts[e.aggregate]++; counts[e.aggregate] == 1 {
			ids = append(ids, e.aggregate)
		}
	}
	r := tx.DB().Records(1, []sqldb.Field{sqldb.Text("id"), sqldb.Int("n")}, len(ids),
		func(i int) []any { return []any{ids[i], counts[ids[i]]} })
	var now []struct {
		ID      string
		Version int64
	}
	err := tx.Select(ctx, &now, `INSERT INTO event_aggregate AS a (id, version)
		SELECT id, n FROM `+r.SQL+` AS v WHERE true ORDER BY id
		ON CONFLICT (id) DO UPDATE SET version = a.version + excluded.version
		RETURNING id, version`, r.Param)
	if err != nil {
		return err
	}
	next := make(map[string]int64, len(now))
	for _, a := range now {
		next[a.ID] = a.Version - counts[a.ID]
	}
	for i := range rows {
		next[rows[i].aggregate]++
		rows[i].version = next[rows[i].aggregate]
	}
	return nil
}

// addMessages adds the messages of events that were just written, in the order
// in which they were.
func addMessages(ctx context.Context, tx *sqldb.Tx, rows []appended) error {
	r := tx.DB().Records(1, []sqldb.Field{sqldb.Int("ordinal"), sqldb.Text("event_id")}, len(rows),
		func(i int) []any { return []any{i, rows[i].id} })
	_, err := tx.Exec(ctx, `INSERT INTO outbox_message (event_id, topic, created)
		SELECT e.id, e.topic, e.created FROM `+r.SQL+` AS v JOIN event_store AS e ON e.id = v.event_id
		ORDER BY v.ordinal`, r.Param)
	return err
}
