package schedule

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
)

// Follow implements [taskdb.Store]. A queue that is not nextrun's own does not tell
// when a job ends, so somebody has to ask. The trigger of periodic_open wakes the
// schedulers once the row of a job that is final is deleted. Rows of tasks whose sink
// this scheduler does not know are left to others.
func (s Store) Follow(ctx context.Context, f taskdb.Follow) (done taskdb.Followed, err error) {
	open := openJobs{s.db, f.Queues}
	err = s.db.UpdateWithin(ctx, sqldb.BatchLockWait, func(tx *sqldb.Tx) error { return open.follow(ctx, tx, f, &done) })
	if err != nil {
		return taskdb.Followed{Last: done.Last}, fmt.Errorf("follow open jobs: %w", err)
	}
	return done, nil
}

func (o openJobs) follow(ctx context.Context, tx *sqldb.Tx, f taskdb.Follow, done *taskdb.Followed) error {
	if err := tx.AsyncCommit(ctx); err != nil {
		return err
	}
	args := []any{f.After, f.Limit}
	without := ""
	for _, sink := range f.Exclude {
		args = append(args, string(sink))
		without += fmt.Sprintf(` AND o.sink <> $%d`, len(args))
	}
	jobs, err := o.read(ctx, tx.DBTX(), `SELECT o.task_id, o.sink, o.ref, o.jid, o.due, o.submitted FROM periodic_open AS o
			JOIN periodic_task AS q ON q.id = o.task_id AND q.sink IN (`+placeholders(&args, f.Known)+`)
		WHERE EXISTS (SELECT 1 FROM periodic_tick AS k WHERE k.task_id = o.task_id AND k.decision = 'queued' LIMIT 1 OFFSET 0)
			AND o.task_id > $1`+without+` ORDER BY o.task_id LIMIT $2`, args...)
	if err != nil || len(jobs) == 0 {
		return err
	}
	ids := slices.Sorted(maps.Keys(jobs))
	if len(jobs) == f.Limit {
		done.Last = ids[len(ids)-1]
	}
	if err := o.cancelReplaced(ctx, tx, jobs); err != nil {
		return err
	}
	pending, err := o.pending(ctx, tx.DBTX(), jobs)
	if err != nil {
		return err
	}
	var over []openJob
	for _, id := range ids {
		if _, waits := pending[id]; waits {
			done.Waiting++
		} else {
			over = append(over, jobs[id])
		}
	}
	done.Ended = len(over)
	return o.forget(ctx, tx, over)
}

// cancelReplaced cancels the jobs that a queued tick is to replace, if no worker
// has begun them: somebody may have had their rows locked before.
func (o openJobs) cancelReplaced(ctx context.Context, tx *sqldb.Tx, jobs map[string]openJob) error {
	r, err := tx.Texts(1, slices.Collect(maps.Keys(jobs)))
	if err != nil {
		return err
	}
	var ids []string
	err = tx.Select(ctx, &ids, `SELECT q.id FROM `+r.SQL+` AS v CROSS JOIN periodic_task AS q
		WHERE q.id = v.value AND q.overlap = 'replace'`, r.Param)
	if err != nil || len(ids) == 0 {
		return err
	}
	replaced := map[string]openJob{}
	for _, id := range ids {
		replaced[id] = jobs[id]
	}
	_, err = o.cancel(ctx, tx.DBTX(), replaced, tx.Now())
	return err
}

// forget deletes the rows of jobs that are final, unless they have changed since.
func (o openJobs) forget(ctx context.Context, tx *sqldb.Tx, jobs []openJob) error {
	if len(jobs) == 0 {
		return nil
	}
	columns := []sqldb.Field{sqldb.Text("of_task"), sqldb.Text("of_job")}
	r, err := o.db.Records(1, columns, len(jobs), func(i int) []any { return []any{jobs[i].TaskID, jobs[i].JID} })
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM periodic_open WHERE task_id IN (SELECT task_id FROM periodic_open
		WHERE (task_id, jid) IN (SELECT v.of_task, v.of_job FROM `+r.SQL+` AS v)`+tx.SQL().ForUpdate+`)`, r.Param)
	return err
}

// JoexEnds implements [taskdb.Store]. The name of a worker of nextrun has an @, that of a joex has none.
// Whoever comes second finds that the outcome is there.
func (s Store) JoexEnds(ctx context.Context, hooks taskdb.Hooks) (ended []taskdb.EndedTick, err error) {
	err = s.db.UpdateWithin(ctx, sqldb.BatchLockWait, func(db *sqldb.Tx) error {
		tx := endsTx{db}
		var rows []tickRow
		err := tx.Select(ctx, &rows, `UPDATE periodic_tick SET outcome = e.state, finished = e.finished, attempts = e.attempts,
				error = CASE WHEN e.state = 'failed' THEN 'Docspell''s log has the reason: nextrun job log ' || e.jid END
			FROM (SELECT j.tracker, j.due, j.jid, j.state, j.finished, j.retries + 1 AS attempts
				FROM job AS j WHERE j.finished > $1 AND j.state IN ('success', 'failed', 'cancelled') AND j.worker NOT LIKE '%@%') AS e
			WHERE periodic_tick.task_id = e.tracker AND periodic_tick.due = e.due AND periodic_tick.jid = e.jid AND periodic_tick.outcome IS NULL
			RETURNING task_id, periodic_tick.due, decision, periodic_tick.jid, decided, outcome, periodic_tick.finished, periodic_tick.attempts, error`,
			sqldb.Timestamp(tx.Now().Add(-time.Hour)))
		if err != nil || len(rows) == 0 {
			return err
		}
		if ended, err = tx.withTasks(ctx, rows); err != nil {
			return err
		}
		return tx.tellHooks(ctx, hooks, ended, map[periodic.TickKey]*awaited{})
	})
	return ended, wrapEnds(err)
}
