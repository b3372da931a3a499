package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

const oldMessages = `SELECT id FROM outbox_message WHERE published < $1 AND id > $3 ORDER BY id LIMIT $2`

// oldEvents lists old events that have no message left. The newest of an aggregate stays: no tick is
// submitted again.
const oldEvents = `SELECT seq FROM event_store AS e
	WHERE e.created < $1 AND e.seq > $3 AND NOT EXISTS (SELECT 1 FROM outbox_message AS m WHERE m.event_id = e.id)
		AND EXISTS (SELECT 1 FROM event_store AS n WHERE n.aggregate_id = e.aggregate_id AND n.aggregate_version > e.aggregate_version)
	ORDER BY e.seq LIMIT $2`

// Prune removes messages that were published before an age, and events that are older and have no message any more. It
// returns the greater of the two numbers, also beside an error about rows that cannot be removed.
func (s Outbox) Prune(ctx context.Context, age time.Duration) (removed int, err error) {
	messages, err1 := s.prune(ctx, "outbox_message", "id", oldMessages, age)
	events, err2 := s.prune(ctx, "event_store", "seq", oldEvents, age)
	return max(messages, events), errors.Join(err1, err2)
}

// prune deletes the rows of a table that are older than an age; the query finds them.
func (s Outbox) prune(ctx context.Context, table, key, query string, age time.Duration) (int, error) {
	last := int64(0)
	return sqldb.Prune[int64]{
		What: "rows of " + table, Name: func(n int64) string { return fmt.Sprintf("%s %d", key, n) },
		Page: func(ctx context.Context, tx *sqldb.Tx) (keys []int64, more bool, err error) {
			err = tx.Select(ctx, &keys, query, sqldb.Timestamp(tx.Now().Add(-age)), sqldb.PruneBatch, last)
			if more = len(keys) == sqldb.PruneBatch; more {
				last = keys[len(keys)-1]
			}
			return keys, more, err
		},
		Delete: func(ctx context.Context, tx *sqldb.Tx, keys []int64) (int64, error) {
			r := tx.DB().Records(1, []sqldb.Field{sqldb.Int("value")}, len(keys), func(i int) []any { return []any{keys[i]} })
			return tx.Exec(ctx, `DELETE FROM `+table+` WHERE `+key+` IN (SELECT value FROM `+r.SQL+` AS v)`, r.Param)
		},
	}.Run(ctx, s.db)
}
