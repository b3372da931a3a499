package events

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// recordRow is an event with its message, if there is one.
type recordRow struct {
	eventRow
	Status    string
	Published sqldb.RowTime
	Attempts  sqldb.RowInt
	Refusals  sqldb.RowInt
	Problem   sql.NullString
	Retry     sqldb.RowTime
	Dead      sqldb.RowTime
}

func (r recordRow) record() outbox.Record {
	return outbox.Record{
		Event: r.event(), Status: outbox.Status(r.Status), Published: r.Published.Time(), Attempts: r.Attempts.N,
		Refusals: r.Refusals.N, Problem: r.Problem.String, Retry: r.Retry.Time(), Dead: r.Dead.Time(),
	}
}

// recordColumns are those of [recordRow] but the payload, of recordTables.
const recordColumns = `e.id, e.topic, e.type, e.aggregate_id, e.aggregate_version, e.due, e.created,
	` + statusOf + ` AS status, m.published, coalesce(m.attempts, 0) AS attempts, coalesce(m.refusals, 0) AS refusals,
	m.problem, m.retry, m.dead`

const statusOf = `CASE WHEN m.id IS NULL THEN 'gone' WHEN m.dead IS NOT NULL THEN 'dead'
	WHEN m.published IS NOT NULL THEN 'published' ELSE 'pending' END`

const recordTables = `event_store AS e LEFT JOIN outbox_message AS m ON m.event_id = e.id`

// List implements [outbox.Admin].
func (s Outbox) List(ctx context.Context, f outbox.Filter) ([]outbox.Record, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = 100
	}
	ofTopic := `e.topic = $1`
	if f.Topic == "" {
		ofTopic = `$1 = ''`
	}
	columns := recordColumns
	if f.WithPayload {
		columns += `, e.payload`
	}
	since, until := sqldb.Period(f.Since, f.Until)
	var rows []recordRow
	err := s.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &rows, `SELECT `+columns+` FROM `+recordTables+`
			WHERE `+ofTopic+` AND ($2 = '' OR e.type = $2) AND ($3 = '' OR e.aggregate_id = $3)
				AND ($4 = '' OR `+statusOf+` = $4)
				AND e.created >= $5 AND e.created < $6 AND ($7 = '' OR replace(e.id, $7, '') <> e.id)
			ORDER BY e.seq DESC LIMIT $8`, f.Topic, f.Type, f.AggregateID, string(f.Status), since, until, f.Part, limit)
	})
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	list := make([]outbox.Record, len(rows))
	for i, r := range rows {
		list[i] = r.record()
	}
	return list, nil
}

// Show implements [outbox.Admin].
func (s Outbox) Show(ctx context.Context, id string) (outbox.Record, error) {
	var row recordRow
	err := s.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.First(ctx, &row, `SELECT `+recordColumns+`, e.payload FROM `+recordTables+` WHERE e.id = $1`, id)
	})
	if err != nil {
		return outbox.Record{}, fmt.Errorf("show event %q: %w", id, err)
	}
	return row.record(), nil
}

// Resend implements [outbox.Admin].
func (s Outbox) Resend(ctx context.Context, ids []string) ([]string, error) {
	r := s.db.Texts(1, ids)
	return s.resend(ctx, `SELECT id FROM event_store WHERE id IN (SELECT value FROM `+r.SQL+` AS v)`, r.Param)
}

// ResendDead implements [outbox.Admin].
func (s Outbox) ResendDead(ctx context.Context, topic string) ([]string, error) {
	return s.resend(ctx, `SELECT event_id FROM outbox_message WHERE topic = $1 AND dead IS NOT NULL`, topic)
}

// resend makes the events that a query names pending again.
func (s Outbox) resend(ctx context.Context, which string, arg any) (found []string, err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &found, `INSERT INTO outbox_message (event_id, topic, created)
			SELECT e.id, e.topic, e.created FROM event_store AS e WHERE e.id IN (`+which+`) ORDER BY e.seq
			ON CONFLICT (event_id) DO UPDATE SET published = NULL, attempts = 0, refusals = 0,
				problem = NULL, retry = NULL, dead = NULL
			RETURNING event_id`, arg)
	})
	if err != nil {
		return nil, fmt.Errorf("send events again: %w", err)
	}
	return found, nil
}

// Lag implements [outbox.Admin].
func (s Outbox) Lag(ctx context.Context) ([]outbox.Lag, error) {
	var rows []struct {
		Topic   string
		Pending int
		Oldest  sqldb.RowTime
		Dead    int
		Holder  sql.NullString
		Problem sql.NullString
		Retry   sqldb.RowTime
	}
	var list []outbox.Lag
	err := s.db.View(ctx, func(tx *sqldb.Tx) error {
		err := tx.Select(ctx, &rows, `SELECT l.topic, l.pending, l.oldest, l.dead,
				CASE WHEN t.expires > $1 THEN t.holder END AS holder, h.problem, h.retry
			FROM (SELECT topic, sum(CASE WHEN dead IS NULL THEN 1 ELSE 0 END) AS pending, min(CASE WHEN dead IS NULL THEN created END) AS oldest,
					sum(CASE WHEN dead IS NULL THEN 0 ELSE 1 END) AS dead
				FROM outbox_message WHERE published IS NULL GROUP BY topic) AS l
			LEFT JOIN scheduler_lock AS t ON t.name = 'topic:' || l.topic
			LEFT JOIN outbox_message AS h ON h.id = (SELECT id FROM outbox_message
				WHERE topic = l.topic AND `+isPending+` ORDER BY id LIMIT 1)
			ORDER BY l.topic`, sqldb.Timestamp(tx.Now()))
		for _, r := range rows {
			lag := outbox.Lag{Topic: r.Topic, Pending: r.Pending, Oldest: r.Oldest.Time(), Dead: r.Dead,
				Holder: r.Holder.String, Problem: r.Problem.String, Retry: r.Retry.Time()}
			if !lag.Oldest.IsZero() {
				lag.Age = max(tx.Now().Sub(lag.Oldest), time.Duration(0))
			}
			list = append(list, lag)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("measure the lag: %w", err)
	}
	return list, nil
}
