package model

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// user does what a user does, in SQL or in Go. Where the model says that nothing happens, SQL
// may fail.
func (r *served) user(what, id string, w, next *world) error {
	update := func(set string, args ...any) error {
		r.Exec(`UPDATE periodic_task SET `+set+` WHERE id = ?`, append(args, id)...)
		return nil
	}
	switch what {
	case "changes its timer":
		return update(`timer = CASE WHEN timer = ? THEN ? ELSE ? END`, everyMinute, everyHalfPast, everyMinute)
	case "disables or enables it":
		return update(`enabled = NOT enabled`)
	case "pauses or resumes it":
		if n := slices.IndexFunc(w.tables.tasks, func(t row) bool { return t.ID == id }); n < 0 || !w.tables.tasks[n].Pause.Since.IsZero() {
			return update(`paused = NULL`)
		}
		return update(`paused = ?`, utc(r.now))
	case "sets nextrun back to the first tick":
		return update(`nextrun = ?`, utc(at(2)))
	case "moves it to another queue":
		return update(`sink = CASE WHEN sink = 'job' THEN 'other' ELSE 'job' END`)
	}
	return r.userElse(what, id, w, next)
}

// userElse does what is more than an edit.
func (r *served) userElse(what, id string, w, next *world) error {
	switch what {
	case "deletes it, or inserts it again":
		if len(next.tables.tasks) < len(w.tables.tasks) {
			r.Exec(`DELETE FROM periodic_task WHERE id = ?`, id)
		} else if len(next.tables.tasks) > len(w.tables.tasks) {
			r.insert(next.tables.tasks[0].Task)
		}
		return nil
	case "adds a job of it by SQL":
		_, err := r.SQL.ExecContext(r.Context(), r.SQL.Rebind(`INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, tracker, single)
			VALUES (?, 'echo', 'g', '{}', '', ?, 's', 0, 'waiting', 0, 0, ?, true)`), fmt.Sprint(len(w.tables.jobs), " ", r.now), utc(r.now), id)
		if (err == nil) != (next != w) {
			return fmt.Errorf("add a job: %w; in the model %v", err, next != w)
		}
		return nil
	case "skips its tick ahead, or not":
		if next == w {
			return nil // it would wait, or is refused
		}
		had := w.clone().unskip(id)
		if r.Exec(`DELETE FROM periodic_tick WHERE task_id = ? AND decided IS NULL`, id); !had {
			r.Exec(`INSERT INTO periodic_tick (task_id, due, decision) SELECT id, due, 'skipped' FROM periodic_task WHERE id = ?`, id)
		}
		return nil
	case "backfills its first tick":
		if next == w {
			return nil // it would wait
		}
		ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
		defer cancel()
		return r.tasks().Backfill(ctx, id, periodic.Backfill{From: at(2), To: at(2).Add(time.Second)})
	}
	return fmt.Errorf("unknown: %s", what)
}

// otherQueue is a queue that is not nextrun's own, in a table of the same database.
type otherQueue struct{}

func (otherQueue) CopiesArgs() {}

func (otherQueue) Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) (list []sink.Submission, err error) {
	for _, j := range jobs {
		if _, err := tx.ExecContext(ctx, `INSERT INTO other_queue (jid, tracker, due, state) VALUES ('`+j.JID+`', '`+j.Tracker+`', '`+utc(j.Due)+`', 'waiting')`); err != nil {
			return nil, err
		}
		list = append(list, sink.Submission{JID: j.JID, Ref: j.JID})
	}
	return list, nil
}

func (otherQueue) Pending(ctx context.Context, tx jobqueue.DBTX, open []sink.Open) (list []sink.Pending, err error) {
	for _, o := range open {
		var state string
		err := tx.QueryRowContext(ctx, `SELECT state FROM other_queue WHERE jid = '`+o.JID+`'`).Scan(&state)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return nil, err
		case !jobqueue.State(state).Final():
			list = append(list, sink.Pending{JID: o.JID, State: jobqueue.State(state)})
		}
	}
	return list, nil
}
