package store

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// The triggers add a row to periodic_ready whenever the queued ticks of a task
// may have nothing to wait for any more, so that a look for them does not read
// all that wait. A row that turns out to be nothing is deleted; one of a task
// that is disabled, blocked, marked or locked is kept, as is one whose tick is to
// replace a job that could not be asked to end.

// waitsForNothing is true for a row r of periodic_ready whose task has a queued
// tick and no job that is not final. OFFSET keeps PostgreSQL from making a join
// of it, which may well begin with all queued ticks.
const waitsForNothing = `(EXISTS (SELECT 1 FROM periodic_tick AS k
		WHERE k.task_id = r.task_id AND k.decision = 'queued' LIMIT 1 OFFSET 0)
	AND NOT EXISTS (SELECT 1 FROM job AS j
		WHERE j.tracker = r.task_id AND j.state IN ('waiting', 'scheduled', 'running', 'stuck') LIMIT 1 OFFSET 0))`

// readyQueued are the tasks q whose queued ticks can be taken, without those
// that a problem blocks. CASE hides the conditions from PostgreSQL, which would
// begin with all tasks where it thinks that few meet them; CROSS JOIN keeps
// SQLite from it.
const readyQueued = `periodic_ready AS r CROSS JOIN periodic_task AS q WHERE q.id = r.task_id
	AND CASE WHEN q.worker IS NOT NULL OR q.nextrun >= '9999-12-31 23:59:59' AND coalesce(q.problem, 'warning:') NOT LIKE 'warning:%'
		THEN false ELSE q.enabled END
	AND ` + waitsForNothing

// notAsked is true for a row r of periodic_ready whose task has a queued tick that
// is to replace a job, and nobody has asked for the end of any: somebody else had
// its row locked then.
const notAsked = `(EXISTS (SELECT 1 FROM periodic_task AS q
		WHERE q.id = r.task_id AND q.overlap = 'replace' AND q.enabled LIMIT 1 OFFSET 0)
	AND EXISTS (SELECT 1 FROM periodic_tick AS k
		WHERE k.task_id = r.task_id AND k.decision = 'queued' LIMIT 1 OFFSET 0)
	AND EXISTS (SELECT 1 FROM job AS j
		WHERE j.tracker = r.task_id AND j.state IN ('waiting', 'scheduled', 'running', 'stuck') LIMIT 1 OFFSET 0)
	AND NOT EXISTS (SELECT 1 FROM job AS j
		WHERE j.tracker = r.task_id AND j.state IN ('waiting', 'scheduled', 'running', 'stuck')
		AND j.cancel IS NOT NULL LIMIT 1 OFFSET 0))`

// isLeftover is true for a row r of periodic_ready that is nothing.
const isLeftover = `NOT ` + waitsForNothing + ` AND NOT ` + notAsked

// askEvery is how soon those are asked again to end whose row was locked.
const askEvery = 250 * time.Millisecond

// maxForget is the greatest number of rows of periodic_ready that one
// transaction of a look deletes.
const maxForget = 10_000

// forgetReady deletes, in short transactions, the rows of periodic_ready that
// are nothing.
func (s schedulerStore) forgetReady(ctx context.Context) error {
	for deleted := int64(maxForget); deleted == maxForget; {
		err := s.Update(ctx, func(tx periodic.Tx) (err error) {
			deleted, err = tx.(schedulerTx).forgetReady(ctx, maxForget)
			return err
		})
		if err != nil {
			return fmt.Errorf("forget queued ticks that are not ready: %w", err)
		}
	}
	return nil
}

// forgetReady deletes those of the first rows of periodic_ready that are nothing.
func (tx schedulerTx) forgetReady(ctx context.Context, first int) (int64, error) {
	if err := tx.db.dialect.unimportant(ctx, tx.tx); err != nil {
		return 0, err
	}
	return tx.exec(ctx, `DELETE FROM periodic_ready WHERE seq IN (
			SELECT r.seq FROM periodic_ready AS r
			WHERE r.seq IN (SELECT seq FROM periodic_ready ORDER BY seq LIMIT $1) AND `+isLeftover+
		tx.db.dialect.lockRows()+`)`, first)
}

// askAgain asks the jobs to end that a queued tick is to replace, and reports
// whether some are locked still.
func (s schedulerStore) askAgain(ctx context.Context) (locked bool, err error) {
	err = s.Update(ctx, func(tx periodic.Tx) error {
		own := tx.(schedulerTx)
		var jids []string
		err := own.list(ctx, &jids, `SELECT DISTINCT (SELECT j.jid FROM job AS j
				WHERE j.tracker = r.task_id AND j.state IN ('waiting', 'scheduled', 'running', 'stuck')
				ORDER BY j.submitted DESC LIMIT 1) AS jid
			FROM periodic_ready AS r WHERE `+notAsked+` LIMIT $1`, maxForget)
		if err != nil {
			return err
		}
		if err := jobSubmitter(s).Cancel(ctx, own.tx, jids, own.now); err != nil {
			return err
		}
		return own.get(ctx, &locked, `SELECT EXISTS (SELECT 1 FROM periodic_ready AS r WHERE `+notAsked+`)`)
	})
	if err != nil {
		return false, fmt.Errorf("ask jobs that are replaced to end: %w", err)
	}
	return locked, nil
}

// findReady looks at all queued ticks, for what changed jobs without triggers,
// such as restoring a backup.
func (tx schedulerTx) findReady(ctx context.Context) error {
	_, err := tx.exec(ctx, `INSERT INTO periodic_ready (task_id)
		SELECT r.task_id FROM (SELECT DISTINCT task_id FROM periodic_tick WHERE decision = 'queued') AS r
		WHERE `+waitsForNothing+` AND r.task_id NOT IN (SELECT task_id FROM periodic_ready)`)
	return err
}
