package foreign

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Cancel implements [sink.Canceller].
func (q cancelling) Cancel(ctx context.Context, outer jobqueue.DBTX, open []sink.Open, now time.Time) ([]string, error) {
	if len(open) == 0 {
		return nil, nil
	}
	tx := q.db.In(outer, now)
	var cancelled []string
	err := q.with(ctx, tx, func(found *Shape, justLooked bool) error {
		cancelled = nil
		parts, err := found.sortOpen(open, justLooked)
		if err != nil || found.Cancel.Empty() {
			return err
		}
		return q.overOpen(ctx, tx, found.Cancel, parts, func(o sink.Open, _ row) {
			cancelled = append(cancelled, o.JID)
		}, sqldb.Timestamp(now))
	})
	return cancelled, err
}

// Retries implements [sink.Retrier].
func (q *queue) Retries() bool { return q.spec.Retries }

// Retry implements [sink.Retrier].
func (q *queue) Retry(ctx context.Context, outer jobqueue.DBTX, job sink.Open, ended time.Time) (ref string, err error) {
	tx := q.db.In(outer, time.Time{})
	err = q.with(ctx, tx, func(found *Shape, _ bool) error {
		if found.Retry.Empty() {
			return nil
		}
		rows, err := q.readOpen(ctx, tx, found.Retry, "", []sink.Open{job}, sqldb.Timestamp(ended))
		for _, r := range rows.list {
			ref = r.text("ref")
		}
		return err
	})
	return ref, err
}
