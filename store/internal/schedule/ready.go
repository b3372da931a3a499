package schedule

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/reasons"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/taskdb"
)

// Triggers add a row to periodic_ready whenever the wait of a task's queued ticks
// may be over, so that nobody has to read all queued ticks. If the wait is not
// over, the row is stale and [Store.Tend] or a claim deletes it. It keeps the rows
// of tasks that are disabled, paused, blocked, marked or locked, and those whose tick is to
// replace a job that could not be cancelled yet, since its row was locked.

// waitsForNothing is true for a row r of periodic_ready whose task has a queued
// tick, no pending job, and no row of periodic_open. Without OFFSET PostgreSQL may turn it into a join that
// begins with all queued ticks.
const waitsForNothing = `(EXISTS (SELECT 1 FROM periodic_tick AS k
		WHERE k.task_id = r.task_id AND k.decision = 'queued' LIMIT 1 OFFSET 0)
	AND NOT EXISTS (SELECT 1 FROM job AS j
		WHERE j.tracker = r.task_id AND j.state IN ` + sqldb.PendingStates + ` LIMIT 1 OFFSET 0)
	AND NOT EXISTS (SELECT 1 FROM periodic_open AS o WHERE o.task_id = r.task_id LIMIT 1 OFFSET 0))`

// readyQueued are the tasks q whose queued ticks can be taken, without those whose
// timer cannot be read and those that are paused. now is a placeholder. It looks at the first rows of periodic_ready only: there may be
// very many stale ones. Both databases might begin with all tasks if they expect
// few of them to meet the conditions. On PostgreSQL CASE prevents that, on SQLite
// CROSS JOIN.
func readyQueued(now string) string {
	return `periodic_ready AS r CROSS JOIN periodic_task AS q WHERE q.id = r.task_id
	AND r.seq <= (SELECT max(f.seq) FROM (SELECT seq FROM periodic_ready ORDER BY seq LIMIT 10000) AS f)
	AND CASE WHEN q.worker IS NOT NULL OR q.nextrun >= '9999-12-31 23:59:59' AND coalesce(q.problem, '') LIKE '` + reasons.UnreadablePrefix + `%'
			OR q.paused IS NOT NULL AND (q.paused_until IS NULL OR q.paused_until > ` + now + `)
		THEN false ELSE q.enabled END
	AND ` + waitsForNothing
}

// notAsked is true for a row r of periodic_ready whose task has a queued tick that
// is to replace a job, and no job of the task has been asked to end, since somebody
// had its row locked.
const notAsked = `(EXISTS (SELECT 1 FROM periodic_task AS q
		WHERE q.id = r.task_id AND q.overlap = 'replace' AND q.enabled LIMIT 1 OFFSET 0)
	AND EXISTS (SELECT 1 FROM periodic_tick AS k
		WHERE k.task_id = r.task_id AND k.decision = 'queued' LIMIT 1 OFFSET 0)
	AND EXISTS (SELECT 1 FROM job AS j
		WHERE j.tracker = r.task_id AND j.state IN ` + sqldb.PendingStates + ` LIMIT 1 OFFSET 0)
	AND NOT EXISTS (SELECT 1 FROM job AS j
		WHERE j.tracker = r.task_id AND j.state IN ` + sqldb.PendingStates + `
		AND j.cancel IS NOT NULL LIMIT 1 OFFSET 0))`

// isStale is true for a row r of periodic_ready whose task has nothing ready.
const isStale = `NOT ` + waitsForNothing + ` AND NOT ` + notAsked

// readyTx is a transaction that works on the rows of periodic_ready.
type readyTx struct{ *sqldb.Tx }

// maxForget is how many rows of periodic_ready one call of Tend checks at most.
const maxForget = 5_000

// Tend implements [taskdb.Store].
func (s Store) Tend(ctx context.Context, all bool, exclude taskdb.Exclude) (done taskdb.Tended, err error) {
	err = s.db.UpdateWithin(ctx, sqldb.BatchLockWait, func(tx *sqldb.Tx) (err error) {
		done, err = readyTx{tx}.tend(ctx, all, exclude)
		return err
	})
	if err != nil {
		return taskdb.Tended{}, fmt.Errorf("look after queued ticks: %w", err)
	}
	return done, nil
}

func (tx readyTx) tend(ctx context.Context, all bool, exclude taskdb.Exclude) (done taskdb.Tended, err error) {
	if err := tx.AsyncCommit(ctx); err != nil {
		return done, err
	}
	if all {
		if err := tx.find(ctx); err != nil {
			return done, err
		}
	}
	forgotten, err := tx.forget(ctx, maxForget)
	if err != nil || forgotten == maxForget {
		return taskdb.Tended{More: true}, err // there are very many; look further next time
	}
	if err := tx.askAgain(ctx); err != nil {
		return done, err
	}
	where, args, err := excluding(tx.Tx, exclude, []any{sqldb.Timestamp(tx.Now())})
	if err != nil {
		return done, err
	}
	err = tx.First(ctx, &done, `SELECT EXISTS (SELECT 1 FROM `+readyQueued("$1")+where("q.")+`) AS ready,
		EXISTS (SELECT 1 FROM periodic_ready AS r WHERE `+notAsked+`) AS again`, args...)
	done.More = forgotten > 0
	return done, err
}

// forget deletes the stale rows among the first of periodic_ready.
func (tx readyTx) forget(ctx context.Context, first int) (int64, error) {
	return tx.Exec(ctx, `DELETE FROM periodic_ready WHERE seq IN (
			SELECT r.seq FROM periodic_ready AS r
			WHERE r.seq IN (SELECT seq FROM periodic_ready ORDER BY seq LIMIT $1) AND `+isStale+
		tx.SQL().ForUpdate+`)`, first)
}

// askAgain cancels the jobs that a queued tick is to replace.
func (tx readyTx) askAgain(ctx context.Context) error {
	var jids []string
	err := tx.Select(ctx, &jids, `SELECT DISTINCT (SELECT j.jid FROM job AS j
			WHERE j.tracker = r.task_id AND j.state IN `+sqldb.PendingStates+`
			ORDER BY j.submitted DESC LIMIT 1) AS jid
		FROM periodic_ready AS r WHERE `+notAsked+` LIMIT $1`, maxForget)
	if err != nil || len(jids) == 0 {
		return err
	}
	_, err = JobSink{tx.DB()}.cancel(ctx, tx.DBTX(), jids, tx.Now())
	return err
}

// find looks at all queued ticks, because jobs may have changed without
// triggers, such as when a backup was restored.
func (tx readyTx) find(ctx context.Context) error {
	_, err := tx.Exec(ctx, `INSERT INTO periodic_ready (task_id)
		SELECT r.task_id FROM (SELECT DISTINCT task_id FROM periodic_tick WHERE decision = 'queued') AS r
		WHERE `+waitsForNothing+` AND r.task_id NOT IN (SELECT task_id FROM periodic_ready)`)
	return err
}
