package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/sqldb"
)

const oldMessages = `SELECT id FROM outbox_message WHERE published < $1 ORDER BY published LIMIT $2`

// oldEvents lists old events that have no message left. The newest tick of a task stays: nothing submits it again.
const oldEvents = `SELECT seq FROM event_store AS e
	WHERE e.created < $1 AND NOT EXISTS (SELECT 1 FROM outbox_message AS m WHERE m.event_id = e.id)
		AND (e.due IS NULL OR EXISTS (SELECT 1 FROM event_store AS n WHERE n.aggregate_id = e.aggregate_id AND n.aggregate_version > e.aggregate_version))
	ORDER BY e.seq LIMIT $2`

// Prune removes up to limit messages that were published before an age, and up to limit events that are older and have
// no message any more. It returns the greater of the two numbers, also beside an error about rows that cannot be removed.
func (s Outbox) Prune(ctx context.Context, age time.Duration, limit int) (removed int, err error) {
	messages, err1 := s.remove(ctx, "outbox_message", "id", oldMessages, age, limit)
	events, err2 := s.remove(ctx, "event_store", "seq", oldEvents, age, limit)
	if err = errors.Join(err1, err2); err != nil {
		err = fmt.Errorf("remove old messages and events: %w", err)
	}
	return max(messages, events), err
}

// remove deletes rows of a table that are older than an age; the query finds them.
// It leaves rows that somebody has locked or that a user's constraint needs. If it can
// delete none, it returns an error about the first.
func (s Outbox) remove(ctx context.Context, table, key, query string, age time.Duration, limit int) (removed int, err error) {
	var keys []int64
	if err := s.db.View(ctx, func(tx *Tx) error {
		return tx.Select(ctx, &keys, query, sqldb.Timestamp(tx.Now().Add(-age)), limit)
	}); err != nil || len(keys) == 0 {
		return 0, err
	}
	try := func(ctx context.Context, keys []int64, brief bool) error {
		var n int64
		err := s.db.UpdateWithin(ctx, sqldb.LockWait(brief), func(tx *Tx) error {
			r, err := tx.DB().Records(1, []sqldb.Field{sqldb.Int("value")}, len(keys), func(i int) []any { return []any{keys[i]} })
			if err != nil {
				return err
			}
			n, err = tx.Exec(ctx, `DELETE FROM `+table+` WHERE `+key+` IN (SELECT value FROM `+r.SQL+` AS v)`, r.Param)
			return err
		})
		if err == nil {
			removed += int(n)
		}
		return err
	}
	if err = try(ctx, keys, false); err == nil {
		return removed, nil
	}
	found := isolate.Thorough(ctx, keys, err, isolate.Search[int64]{Try: try, Judge: judge})
	if found.Err == nil && len(found.Culprits) > 0 {
		kept := &isolate.KeptError{What: "rows of " + table}
		for _, c := range found.Culprits {
			kept.Add(fmt.Sprintf("%s %d", key, c.Item), c.Cause, c.Err)
		}
		found.Err = kept
	}
	return removed, found.Err
}
