package store

import (
	"context"

	"github.com/nextrun/nextrun/periodic"
)

// tickRow is a row of periodic_tick.
type tickRow struct {
	TaskID   string `db:"task_id"`
	Due      Timestamp
	Decision string
	Reason   *string
	Missed   int
	Until    Timestamp
	JID      *string
	Worker   *string
	Decided  Timestamp
}

func (r tickRow) tick() periodic.Tick {
	return periodic.Tick{
		TaskID: r.TaskID, Due: r.Due.Time(), Decision: periodic.Decision(r.Decision), Reason: deref(r.Reason),
		Missed: r.Missed, Until: r.Until.Time(), JID: deref(r.JID), Worker: deref(r.Worker), Decided: r.Decided.Time(),
	}
}

func (tx taskTx) Ticks(ctx context.Context, f periodic.TickFilter) ([]periodic.Tick, error) {
	since := f.Since
	if since.IsZero() {
		since = periodic.Unplanned
	}
	var rows []tickRow
	err := tx.list(ctx, &rows, `SELECT task_id, due, decision, reason, missed, until, jid, worker, decided
		FROM periodic_tick
		WHERE ($1 = '' OR task_id = $1) AND ($2 = '' OR decision = $2) AND decided >= $3
		ORDER BY due DESC, task_id LIMIT $4`, f.TaskID, string(f.Decision), Timestamp(since), f.Limit)
	list := make([]periodic.Tick, len(rows))
	for i, r := range rows {
		list[i] = r.tick()
	}
	return list, err
}
