package model

import (
	"context"
	"database/sql"
	"errors"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

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
