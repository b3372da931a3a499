package events

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// itemRow is a message with its event, or without.
type itemRow struct {
	eventRow
	Message  int64
	Missing  bool // there is no such event
	Retry    sqldb.RowTime
	Attempts sqldb.RowInt
	Refusals sqldb.RowInt
}

func (r itemRow) item() outboxdb.Item {
	i := outboxdb.Item{Event: r.event(), Message: r.Message, Attempts: r.Attempts.N, Refusals: r.Refusals.N}
	if r.Missing {
		i.Problem = fmt.Sprintf("event %q is missing from event_store; "+
			"delete its message: DELETE FROM outbox_message WHERE id = %d", r.ID, r.Message)
	} else {
		i.Problem = r.unreadable()
	}
	return i
}

// nextMessages returns the first messages to publish of a topic that is held.
// If there are none it gives the lease back.
func (tx *Tx) nextMessages(ctx context.Context, lease outboxdb.Lease, terms outboxdb.Terms) (*outboxdb.Batch, error) {
	var rows []itemRow
	err := tx.Select(ctx, &rows, `WITH head AS (
			SELECT id AS message, event_id, retry, attempts, refusals FROM outbox_message
			WHERE `+isPending+` AND topic = $1 ORDER BY id LIMIT $2),
		sized AS (
			SELECT head.*, sum(coalesce(octet_length(e.payload), 0)) OVER w AS bytes, row_number() OVER w AS n
			FROM head LEFT JOIN event_store AS e ON e.id = event_id
			WINDOW w AS (ORDER BY message ROWS UNBOUNDED PRECEDING))
		SELECT message, retry, attempts, refusals, e.id IS NULL AS missing, event_id AS id, coalesce(e.topic, $1) AS topic,
			coalesce(e.type, '') AS type, coalesce(e.aggregate_id, '') AS aggregate_id, e.aggregate_version,
			coalesce(e.payload, '') AS payload, e.due, e.created, e.traceparent
		FROM sized LEFT JOIN event_store AS e ON e.id = event_id
		WHERE n = 1 OR bytes <= $3 ORDER BY message`, lease.Topic, terms.Limit, terms.Bytes)
	if err != nil {
		return nil, err
	}
	b := &outboxdb.Batch{Lease: lease}
	for _, r := range rows {
		if r.Retry.Time().After(tx.Now()) {
			break
		}
		b.Items = append(b.Items, r.item())
	}
	if len(b.Items) > 0 {
		return b, nil
	}
	_, err = tx.giveBack(ctx, lease)
	return nil, err
}
