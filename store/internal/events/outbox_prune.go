package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// Prune implements [outboxdb.Pruner].
func (s Outbox) Prune(ctx context.Context, messages, events time.Duration, limit int) (outboxdb.Pruned, error) {
	var removed outboxdb.Pruned
	var err1, err2 error
	if messages > 0 {
		removed.Messages, err1 = s.remove(ctx, "outbox_message", oldMessages, messages, limit)
	}
	if events > 0 { // although messages may stay
		removed.Events, err2 = s.remove(ctx, "event_store", oldEvents, events, limit)
	}
	if err := errors.Join(err1, err2, s.pruneLeases(ctx)); err != nil {
		return removed, fmt.Errorf("remove old messages, events and leases: %w", err)
	}
	return removed, nil
}

const oldMessages = `SELECT id FROM outbox_message WHERE published < $1 ORDER BY published LIMIT $2`

// oldEvents lists old events that have no message left.
const oldEvents = `SELECT seq FROM event_store AS e
	WHERE e.created < $1 AND NOT EXISTS (SELECT 1 FROM outbox_message AS m WHERE m.event_id = e.id)
	ORDER BY e.seq LIMIT $2`

// remove deletes rows of a table that are older than an age; the query finds them.
// It leaves rows that somebody has locked or that a user's constraint needs. If it can
// delete none, it returns an error about the first.
func (s Outbox) remove(ctx context.Context, table, query string, age time.Duration, limit int) (int, error) {
	key := map[string]string{"outbox_message": "id", "event_store": "seq"}[table]
	var keys []int64
	if err := s.db.View(ctx, func(tx *Tx) error {
		return tx.Select(ctx, &keys, query, sqldb.Timestamp(tx.Now().Add(-age)), limit)
	}); err != nil || len(keys) == 0 {
		return 0, err
	}
	removed := 0
	try := func(ctx context.Context, keys []int64, brief bool) error {
		var n int64
		err := s.db.updateOutbox(ctx, brief, func(tx *Tx) error {
			r, err := tx.DB().Records(1, []sqldb.Field{sqldb.Int("value")}, len(keys), func(i int) []any { return []any{keys[i]} })
			if err != nil {
				return err
			}
			n, err = tx.Exec(ctx, `DELETE FROM `+table+` WHERE `+key+` IN (SELECT `+key+` FROM `+table+
				` WHERE `+key+` IN (SELECT value FROM `+r.SQL+` AS v)`+tx.SQL().ForUpdate+`)`, r.Param)
			return err
		})
		if err == nil {
			removed += int(n)
		}
		return err
	}
	err := try(ctx, keys, false)
	if err == nil {
		return removed, nil
	}
	found := isolate.Thorough(ctx, keys, err, isolate.Search[int64]{Try: try, Judge: topicCause})
	if found.Err == nil && len(found.Culprits) > 0 {
		kept := &isolate.KeptError{What: "rows of " + table}
		for _, c := range found.Culprits {
			kept.Add(fmt.Sprintf("%s %d", key, c.Item), c.Cause, c.Err)
		}
		found.Err = kept
	}
	return removed, found.Err
}
