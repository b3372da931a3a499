package tasks

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

// tickTx is a transaction that reads and writes ticks.
type tickTx struct{ *sqldb.Tx }

// Ticks implements [batch.Tx].
func (tx schedulerTx) Ticks(ctx context.Context, since []periodic.TickKey) (map[string][]periodic.Range, error) {
	found := map[string][]periodic.Range{}
	return found, tickTx(tx).decided(ctx, since, found)
}

// Ended implements [batch.Tx].
func (tx schedulerTx) Ended(ctx context.Context, ids []string) (map[string]time.Time, error) {
	r, err := tx.Texts(1, ids)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		TaskID   string `db:"task_id"`
		Finished sqldb.RowTime
	}
	err = tx.Select(ctx, &rows, `SELECT k.task_id, k.finished FROM `+r.SQL+` AS v
		JOIN periodic_run AS k ON k.task_id = v.value AND k.due = (SELECT max(l.due) FROM periodic_tick AS l
			WHERE l.task_id = v.value AND l.decision = 'submitted')`, r.Param)
	ended := make(map[string]time.Time, len(rows))
	for _, row := range rows {
		if at := row.Finished.Time(); !at.IsZero() {
			ended[row.TaskID] = at
		}
	}
	return ended, err
}

// decided reads from the newest row that is not after the tick on, since
// that one may reach beyond it.
func (tx tickTx) decided(ctx context.Context, since []periodic.TickKey, decided map[string][]periodic.Range) error {
	r, err := tx.DB().Records(1, []sqldb.Field{sqldb.Text("id"), sqldb.Time("since")}, len(since),
		func(i int) []any { return []any{since[i].TaskID, since[i].Due} })
	if err != nil {
		return err
	}
	var rows []struct {
		TaskID string `db:"task_id"`
		Due    sqldb.Timestamp
		Last   sqldb.Timestamp
	}
	const first = `coalesce((SELECT max(due) FROM periodic_tick WHERE task_id = v.id AND due <= v.since AND decided IS NOT NULL), v.since)`
	err = tx.Select(ctx, &rows, `SELECT k.task_id, k.due, coalesce(k.until, k.due) AS last FROM `+r.SQL+` AS v
		JOIN periodic_tick AS k ON k.task_id = v.id AND k.due >= `+first+` AND k.decided IS NOT NULL
			AND k.due <= coalesce((SELECT due FROM periodic_tick WHERE task_id = v.id AND due >= `+first+` AND decided IS NOT NULL
				ORDER BY due LIMIT 1 OFFSET $2), '9999-12-31 23:59:59')
		ORDER BY k.due`, r.Param, periodic.MaxDecided-1)
	for _, row := range rows {
		decided[row.TaskID] = append(decided[row.TaskID], periodic.Range{First: row.Due.Time(), Last: row.Last.Time()})
	}
	return err
}
