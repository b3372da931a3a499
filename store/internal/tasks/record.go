package tasks

import (
	"context"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

// tickRecords are ticks as records for the first placeholder. The worker and the time of the
// decision are not among them, since all ticks of a batch share these.
func tickRecords(db *sqldb.DB, ticks []periodic.Tick) sqldb.Records {
	columns := []sqldb.Field{
		sqldb.Text("task_id"), sqldb.Time("due"), sqldb.Text("decision"), sqldb.Text("cause"), sqldb.Text("reason"),
		sqldb.Int("missed"), sqldb.Time("until"), sqldb.Text("jid"),
	}
	return db.Records(1, columns, len(ticks), func(i int) []any {
		t := ticks[i]
		return []any{t.TaskID, t.Due, string(t.Decision), sqldb.Nullable(string(t.Cause)), sqldb.Nullable(t.Reason), t.Missed, t.Until, sqldb.Nullable(t.JID)}
	})
}

// tickKeyRow is the primary key of periodic_tick.
type tickKeyRow struct {
	TaskID string `db:"task_id"`
	Due    sqldb.Timestamp
}

func tickKeys(rows []tickKeyRow) []periodic.TickKey {
	keys := make([]periodic.TickKey, len(rows))
	for i, r := range rows {
		keys[i] = periodic.TickKey{TaskID: r.TaskID, Due: r.Due.Time()}
	}
	return keys
}

// Record implements [batch.Tx].
func (tx schedulerTx) Record(ctx context.Context, settled, added []periodic.Tick) (keys []periodic.TickKey, err error) {
	tx.Changes(sqldb.TopicJobs, sqldb.TopicEvents)
	if len(settled) > 0 {
		keys, err = tx.settle(ctx, settled)
	}
	if len(added) == 0 || err != nil {
		return keys, err
	}
	more, err := tx.add(ctx, added)
	return append(keys, more...), err
}

func (tx schedulerTx) add(ctx context.Context, ticks []periodic.Tick) ([]periodic.TickKey, error) {
	r := tickRecords(tx.DB(), ticks)
	added, err := tx.Exec(ctx, `INSERT INTO periodic_tick (task_id, due, decision, cause, reason, missed, until, jid, worker, decided)
		SELECT task_id, due, decision, cause, reason, missed, until, jid, $2, $3 FROM `+r.SQL+` AS v WHERE true
		ON CONFLICT DO NOTHING`, r.Param, ticks[0].Worker, sqldb.Timestamp(ticks[0].Decided))
	if err != nil {
		return nil, err
	}
	if added == int64(len(ticks)) { // almost always; saves sending the keys back
		keys := make([]periodic.TickKey, len(ticks))
		for i, t := range ticks {
			keys[i] = t.Key()
		}
		return keys, nil
	}
	var rows []tickKeyRow
	err = tx.Select(ctx, &rows, `SELECT k.task_id, k.due FROM `+r.SQL+` AS v JOIN periodic_tick AS k
		ON k.task_id = v.task_id AND k.due = v.due AND k.worker = $2 AND k.decided = $3`,
		r.Param, ticks[0].Worker, sqldb.Timestamp(ticks[0].Decided))
	if err != nil {
		return nil, err
	}
	// Somebody may have skipped a tick just before its task was locked.
	_, err = tx.Exec(ctx, `UPDATE periodic_tick AS k SET worker = $2, decided = $3 FROM (SELECT task_id AS of_task, due AS of_due FROM `+r.SQL+` AS r) AS v
		WHERE k.task_id = of_task AND k.due = of_due AND k.decided IS NULL`, r.Param, ticks[0].Worker, sqldb.Timestamp(ticks[0].Decided))
	return tickKeys(rows), err
}

func (tx schedulerTx) settle(ctx context.Context, ticks []periodic.Tick) ([]periodic.TickKey, error) {
	r := tickRecords(tx.DB(), ticks)
	var rows []tickKeyRow
	err := tx.Select(ctx, &rows, `UPDATE periodic_tick AS k SET decision = v.decision, cause = v.cause, reason = v.reason, jid = v.jid,
			worker = $2, decided = $3
		FROM (SELECT task_id AS of_task, due AS of_due, decision, cause, reason, jid FROM `+r.SQL+` AS r) AS v
		WHERE k.task_id = of_task AND k.due = of_due
			AND (k.decided IS NULL OR k.worker = $2 AND k.decided = $3)
		RETURNING task_id, due`, r.Param, ticks[0].Worker, sqldb.Timestamp(ticks[0].Decided))
	return tickKeys(rows), err
}
