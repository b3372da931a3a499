package foreign

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// Cancel implements [periodic.Canceller].
func (q cancelling) Cancel(ctx context.Context, outer jobqueue.DBTX, open []periodic.Open, now time.Time) ([]string, error) {
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
		return q.overOpen(ctx, tx, found.Cancel, parts, func(o periodic.Open, _ row) {
			cancelled = append(cancelled, o.JID)
		}, sqldb.Timestamp(now))
	})
	return cancelled, err
}

// Retries implements [periodic.Retrier].
func (q *queue) Retries() bool { return q.spec.Retries }

// Retry implements [periodic.Retrier].
func (q *queue) Retry(ctx context.Context, outer jobqueue.DBTX, job periodic.Open, ended time.Time) (ref string, err error) {
	tx := q.db.In(outer, time.Time{})
	err = q.with(ctx, tx, func(found *Shape, _ bool) error {
		if found.Retry.Empty() {
			return nil
		}
		rows, err := q.readOpen(ctx, tx, found.Retry, "", []periodic.Open{job}, sqldb.Timestamp(ended))
		for _, r := range rows.list {
			ref = r.text("ref")
		}
		return err
	})
	return ref, err
}
