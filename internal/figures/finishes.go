package figures

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Finish is a tick that has to finish by a time, and what is known of that: a row of the view periodic_finish.
type Finish struct {
	TaskID string
	Due    time.Time
	By     time.Time
	Ended  time.Time // when its job ended; zero: it has not, or there is none
	State  string    // kept, late, open or unknown
	AtRisk bool      // it is open, and not expected to finish in time
	Why    string    // of one that is not kept
}

// Word is the state, or "at risk".
func (f *Finish) Word() string {
	if f.AtRisk {
		return "at risk"
	}
	return f.State
}

type finishRow struct {
	TaskID  string `db:"task_id"`
	Due, By sqldb.RowTime
	Ended   sqldb.RowTime
	State   sqldb.RowText
	AtRisk  bool `db:"at_risk"`
	Why     sqldb.RowText
}

// Finishes reads the newest ticks of a task that have to finish by a time, the newest first.
func (r Reader) Finishes(ctx context.Context, task string, most int) (list []Finish, err error) {
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		list, err = finishesOf(ctx, tx, `SELECT f.task_id, f.due, f.finish_by AS "by", f.ended, f.finish AS state, f.at_risk, f.why
			FROM periodic_finish AS f WHERE f.task_id = $1 ORDER BY f.due DESC LIMIT $2`, task, most)
		return err
	})
	return list, err
}

// Unfinished reads the ticks of all tasks that are not expected to finish in time, or have not and still may, the most urgent
// first. It finds them by an index, however many ticks there are.
func (r Reader) Unfinished(ctx context.Context, most int) (list []Finish, err error) {
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		list, err = finishesOf(ctx, tx, `SELECT k.task_id, k.due, k.finish_by AS "by", NULL AS ended, CASE k.finish WHEN 'late' THEN 'late' ELSE 'open' END AS state,
				k.finish = 'at risk' AS at_risk, k.finish_why AS why
			FROM periodic_tick AS k LEFT JOIN job AS j ON j.jid = k.jid
			WHERE k.finish_look IS NOT NULL AND k.finish IN ('at risk', 'late') AND coalesce(j.state, k.outcome, '') NOT IN ('success', 'gone')
			ORDER BY k.finish_by, k.task_id LIMIT $1`, most)
		return err
	})
	return list, err
}

func finishesOf(ctx context.Context, tx *sqldb.Tx, query string, args ...any) (list []Finish, err error) {
	var rows []finishRow
	if err = tx.Select(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("read which jobs finish in time: %w", err)
	}
	for _, f := range rows {
		list = append(list, Finish{f.TaskID, f.Due.Time(), f.By.Time(), f.Ended.Time(), string(f.State), f.AtRisk, string(f.Why)})
	}
	return list, nil
}
