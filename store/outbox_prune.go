package store

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// Prune implements [outbox.Pruner].
func (s OutboxStore) Prune(ctx context.Context, messages, events time.Duration, limit int) (outbox.Pruned, error) {
	var removed outbox.Pruned
	err := s.db.Update(ctx, func(tx *Tx) error {
		remove := func(age time.Duration, query string) (int, error) {
			if age <= 0 {
				return 0, nil
			}
			n, err := tx.exec(ctx, query, Timestamp(tx.now.Add(-age)), limit)
			return int(n), err
		}
		var err error
		if removed.Messages, err = remove(messages, `DELETE FROM outbox_message WHERE id IN (
				SELECT id FROM outbox_message WHERE published < $1 ORDER BY published LIMIT $2`+
			tx.db.dialect.lockRows()+`)`); err != nil {
			return err
		}
		removed.Events, err = remove(events, oldEvents)
		return err
	})
	if err != nil {
		return outbox.Pruned{}, fmt.Errorf("remove old messages: %w", err)
	}
	return removed, nil
}

// oldEvents removes old events that have no message left and that no group of
// their topic is still to read. Where there is no group, an event needs no
// position.
const oldEvents = `DELETE FROM event_store WHERE id IN (
	SELECT e.id FROM event_store AS e
	WHERE e.created < $1 AND NOT EXISTS (SELECT 1 FROM outbox_message AS m WHERE m.event_id = e.id)
		AND NOT EXISTS (SELECT 1 FROM event_offset AS o
			WHERE o.topic = e.topic AND (e.position IS NULL OR e.position > o.position))
	ORDER BY e.seq LIMIT $2)`
