package store

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// EventsIn returns a transaction of the caller's on the same database, such as
// a *sql.Tx, as one that [outbox.AppendTx] takes.
func (db *DB) EventsIn(ctx context.Context, tx jobqueue.DBTX) (outbox.Tx, error) {
	return db.join(ctx, tx)
}

var _ outbox.Tx = (*Tx)(nil)

// appended is an event that is about to be written.
type appended struct {
	id, aggregate string
	version       int64
}

// AppendEvents implements [outbox.Tx]; use [outbox.AppendTx], which checks the
// events.
func (tx *Tx) AppendEvents(ctx context.Context, events []outbox.Event) ([]outbox.Event, error) {
	rows := make([]appended, len(events))
	for i, e := range events {
		rows[i] = appended{id: e.ID, aggregate: e.AggregateID}
	}
	if err := tx.nextVersions(ctx, rows); err != nil {
		return nil, fmt.Errorf("append events: %w", err)
	}
	columns := []field{{"ordinal", fieldInt}, {"id", fieldText}, {"topic", fieldText}, {"type", fieldText},
		{"aggregate_id", fieldText}, {"aggregate_version", fieldInt}, {"payload", fieldText}, {"due", fieldTime},
		{"created", fieldTime}}
	r, err := tx.db.newRecords(1, columns, len(events), func(i int) []any {
		e := &events[i]
		return []any{i, e.ID, e.Topic, e.Type, e.AggregateID, rows[i].version, e.Payload, e.Due, tx.now}
	})
	if err != nil {
		return nil, err
	}
	if _, err := tx.exec(ctx, `INSERT INTO event_store
			(id, topic, type, aggregate_id, aggregate_version, payload, due, created)
		SELECT id, topic, type, aggregate_id, aggregate_version, payload, due, created
		FROM `+r.sql+` AS v ORDER BY ordinal`, r.param); err != nil {
		return nil, fmt.Errorf("append events: %w", err)
	}
	if err := tx.addMessages(ctx, rows); err != nil {
		return nil, fmt.Errorf("append events: %w", err)
	}
	for i := range events {
		events[i].AggregateVersion, events[i].Created = rows[i].version, tx.now
	}
	return events, nil
}

// nextVersions gives each event the next version of its aggregate. Writers of
// an aggregate wait here for each other until they commit, so that versions
// have no gaps and are committed in order; aggregates are locked in the order
// of their ids, so that two writers of several do not block each other.
func (tx *Tx) nextVersions(ctx context.Context, rows []appended) error {
	counts := map[string]int64{}
	var ids []string
	for _, e := range rows {
		if counts[e.aggregate]++; counts[e.aggregate] == 1 {
			ids = append(ids, e.aggregate)
		}
	}
	r, err := tx.db.newRecords(1, []field{{"id", fieldText}, {"n", fieldInt}}, len(ids),
		func(i int) []any { return []any{ids[i], counts[ids[i]]} })
	if err != nil {
		return err
	}
	var now []struct {
		ID      string
		Version int64
	}
	err = tx.list(ctx, &now, `INSERT INTO event_aggregate AS a (id, version)
		SELECT id, n FROM `+r.sql+` AS v WHERE true ORDER BY id
		ON CONFLICT (id) DO UPDATE SET version = a.version + excluded.version
		RETURNING id, version`, r.param)
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
func (tx *Tx) addMessages(ctx context.Context, rows []appended) error {
	r, err := tx.db.newRecords(1, []field{{"ordinal", fieldInt}, {"event_id", fieldText}}, len(rows),
		func(i int) []any { return []any{i, rows[i].id} })
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, `INSERT INTO outbox_message (event_id, topic, created)
		SELECT e.id, e.topic, e.created FROM `+r.sql+` AS v JOIN event_store AS e ON e.id = v.event_id
		ORDER BY v.ordinal`, r.param)
	return err
}
