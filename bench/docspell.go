package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// docspell submits the tasks that are due as Docspell's scheduler does: one at a time, with five statements, each committed
// by itself.
func docspell(ctx context.Context, url string) error {
	return onPostgres(url, func(db *sql.DB) error {
		for i := 0; ; i++ {
			id, err := docspellTask(ctx, db, i)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("task %s: %w", id, err)
			}
		}
	})
}

func docspellTask(ctx context.Context, db *sql.DB, number int) (id string, err error) {
	var due time.Time
	// 1. Which is next?
	err = db.QueryRowContext(ctx, `SELECT id, due FROM periodic_task WHERE enabled AND worker IS NULL AND nextrun > '2000-01-01'
		AND nextrun <= clock_timestamp() AT TIME ZONE 'UTC' ORDER BY nextrun ASC LIMIT 1`).Scan(&id, &due)
	if err != nil {
		return id, err
	}
	at := due.Format("2006-01-02 15:04:05.000000")
	var pending int
	for _, step := range []func() error{
		func() error { // 2. Mark it.
			_, err := db.ExecContext(ctx, `UPDATE periodic_task SET worker = 'bench', marked = now() AT TIME ZONE 'UTC' WHERE id = $1 AND worker IS NULL`, id)
			return err
		},
		func() error { // 3. Does a job of it wait or run?
			return db.QueryRowContext(ctx, `SELECT count(*) FROM job WHERE tracker = $1 AND state IN ('waiting', 'scheduled', 'running', 'stuck')`, id).Scan(&pending)
		},
		func() error { // 4. Add the job.
			_, err := db.ExecContext(ctx, `INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, tracker, due, single)
				SELECT $1, task, group_, args, subject, clock_timestamp() AT TIME ZONE 'UTC', submitter, priority, 'waiting', 0, 0, id, $2::timestamp, true
				FROM periodic_task WHERE id = $3`, fmt.Sprintf("docspell-%d", number), at, id)
			return err
		},
		func() error { // 5. Advance it and take the mark away.
			_, err := db.ExecContext(ctx, `UPDATE periodic_task SET worker = NULL, marked = NULL, due = $1::timestamp + interval '1 day', nextrun = $1::timestamp + interval '1 day'
				WHERE id = $2`, at, id)
			return err
		},
	} {
		if err := step(); err != nil {
			return id, err
		}
	}
	return id, nil
}
