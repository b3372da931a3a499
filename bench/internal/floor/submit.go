package floor

import (
	"context"
	"database/sql"
	"errors"
)

// oneStatement claims, submits and advances the tasks that are due, in one statement: what the database can do if nobody
// has to decide anything. A task that nobody has planned yet has a nextrun of 1970.
const oneStatement = `WITH due AS (SELECT id FROM periodic_task WHERE enabled AND worker IS NULL AND nextrun > '2000-01-01' AND nextrun <= clock_timestamp() AT TIME ZONE 'UTC'
		ORDER BY nextrun FOR UPDATE SKIP LOCKED),
	advanced AS (UPDATE periodic_task t SET due = t.due + interval '1 day', nextrun = t.nextrun + interval '1 day'
		FROM due WHERE t.id = due.id RETURNING t.*)
	INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, tracker, due, single)
	SELECT gen_random_uuid(), task, group_, args, subject, clock_timestamp() AT TIME ZONE 'UTC', submitter, priority,
		'waiting', 0, 0, id, due - interval '1 day', true FROM advanced`

// SQLite has no INSERT from the result of an UPDATE: two statements in a transaction.
const (
	chosen   = `SELECT id FROM periodic_task WHERE enabled AND worker IS NULL AND nextrun > '2000-01-01' AND nextrun <= strftime('%Y-%m-%d %H:%M:%f000', 'now') ORDER BY nextrun, id)`
	inserted = `INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, tracker, due, single)
		SELECT lower(hex(randomblob(16))), task, group_, args, subject, strftime('%Y-%m-%d %H:%M:%f000', 'now'), submitter, priority,
			'waiting', 0, 0, id, due, 1 FROM periodic_task WHERE id IN (` + chosen
	advanced = `UPDATE periodic_task SET due = datetime(due, '+1 day') || '.000000', nextrun = datetime(nextrun, '+1 day') || '.000000' WHERE id IN (` + chosen
)

// Submit submits all tasks that are due, in one transaction.
func (p Plain) Submit(ctx context.Context) (tasks int, err error) {
	if !p.sqlite {
		return p.touched(ctx, p.db, oneStatement)
	}
	tx, err := p.db.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, ended(tx.Rollback())) }()
	n, err := p.touched(ctx, tx, inserted)
	if err != nil || n == 0 {
		return 0, err
	}
	if _, err := p.touched(ctx, tx, advanced); err != nil {
		return 0, err
	}
	return n, tx.Commit()
}

// ended leaves out that a transaction has ended before.
func ended(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}
