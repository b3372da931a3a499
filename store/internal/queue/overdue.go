package queue

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// Beat implements [jobdb.Store].
func (s Store) Beat(ctx context.Context, worker string, jids []string, brief bool) ([]jobdb.JobStatus, error) {
	var list []jobdb.JobStatus
	err := s.db.UpdateWithin(ctx, sqldb.LockWait(brief), func(outer *sqldb.Tx) error {
		tx := workTx{jobTx{outer}}
		r, err := tx.Texts(1, jids)
		if err != nil {
			return err
		}
		var renewed []string
		err = tx.Select(ctx, &renewed, `UPDATE job SET heartbeat = $3 WHERE jid IN (SELECT jid FROM job
				WHERE jid IN (SELECT v.value FROM `+r.SQL+` AS v) AND `+heldByWorker+tx.SQL().ForUpdate+`) RETURNING jid`,
			r.Param, worker, sqldb.Timestamp(tx.Now()))
		if err != nil {
			return err
		}
		if list, err = tx.status(ctx, jids); err != nil {
			return err
		}
		done := sqldb.Set(renewed)
		for i := range list {
			list[i].Locked = !done[list[i].JID] && list[i].Worker == worker
		}
		return nil
	})
	return list, err
}

// CancelRequests implements [jobdb.Store].
func (s Store) CancelRequests(ctx context.Context, worker string) ([]string, error) {
	var jids []string
	err := s.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &jids, "SELECT jid FROM job WHERE "+hasWorker+" AND cancel IS NOT NULL AND worker = $1", worker)
	})
	return jids, err
}

// othersSQL asks whether other workers have jobs, in the order of an index.
const othersSQL = "SELECT (SELECT jid FROM job WHERE " + hasWorker + " AND heartbeat IS NOT NULL AND worker <> $1 ORDER BY heartbeat LIMIT 1) IS NOT NULL"

// idleSQL asks whether no job waits, runs or is stuck. Each part is in the order of an index, so
// that no plan reads the whole table, however old its statistics are.
func idleSQL(sql *sqldb.Words) string {
	none := func(condition, order string) string {
		return "(SELECT jid FROM job WHERE " + condition + " ORDER BY " + order + " LIMIT 1) IS NULL"
	}
	return "SELECT " + none(hasWorker+" AND heartbeat IS NOT NULL", "heartbeat") + " AND " + none("state = 'stuck'", "retry") +
		" AND " + none(waitsForTime, "retry") + " AND " + none(claimable,
		sql.Bytewise("task")+", "+sql.Bytewise("group_")+", (priority > 5), submitted, jid")
}

// Ended implements [jobdb.Store].
func (s Store) Ended(ctx context.Context, worker string) ([]string, time.Duration, error) {
	var others bool
	err := s.db.Glance(ctx, &others, othersSQL, worker)
	if err != nil || !others {
		return nil, 0, err
	}
	return s.db.Ended(ctx)
}

// Overdue implements [jobdb.Store].
func (s Store) Overdue(ctx context.Context, q jobdb.OverdueQuery) (jobdb.Overdue, error) {
	overdue := jobdb.Overdue{Next: -1}
	err := s.db.Glance(ctx, &overdue.Idle, idleSQL(s.db.SQL()))
	if overdue.Idle || err != nil && !errors.Is(err, sqldb.ErrNoSchema) { // the transaction says more of what is missing
		return overdue, err
	}
	err = s.db.Update(ctx, func(outer *sqldb.Tx) error { // since it locks rows, to find those that nobody has
		tx := workTx{jobTx{outer}}
		except, err := tx.Texts(1, q.Except)
		if err != nil {
			return err
		}
		others := " AND CAST(jid AS text) NOT IN (SELECT v.value FROM " + except.SQL + " AS v)"
		rest := others + " ORDER BY %s LIMIT $3" + tx.SQL().ForUpdate
		overdue.Dead, err = tx.jobs(ctx, slimColumns, "SELECT "+slimJobColumns+" FROM job WHERE "+hasWorker+" AND heartbeat < $2"+
			strings.ReplaceAll(rest, "%s", "heartbeat"), except.Param, sqldb.Timestamp(tx.Now().Add(-q.Lease)), q.Limit)
		if err != nil {
			return err
		}
		if overdue.Ended, err = tx.ofEnded(ctx, q, rest, except.Param); err != nil {
			return err
		}
		overdue.More = len(overdue.Dead) >= q.Limit || len(overdue.Ended) >= q.Limit
		for _, state := range []jobqueue.State{jobqueue.Stuck, jobqueue.Waiting} {
			due, err := tx.jobs(ctx, slimColumns, "SELECT "+slimJobColumns+" FROM job WHERE state = '"+string(state)+"' AND retry <= $2"+
				strings.ReplaceAll(rest, "%s", "retry"), except.Param, sqldb.Timestamp(tx.Now()), q.Limit)
			if err != nil {
				return err
			}
			overdue.Due = append(overdue.Due, due...)
			overdue.More = overdue.More || len(due) >= q.Limit
		}
		overdue.Next, err = tx.nextOverdue(ctx, q.Lease, others, except.Param)
		return err
	})
	return overdue, err
}

// ofEnded lists the jobs of workers that have ended.
func (tx workTx) ofEnded(ctx context.Context, q jobdb.OverdueQuery, rest string, except any) ([]jobqueue.Job, error) {
	if len(q.Ended) == 0 {
		return nil, nil
	}
	ended, err := tx.Texts(2, q.Ended)
	if err != nil {
		return nil, err
	}
	return tx.jobs(ctx, slimColumns, "SELECT "+slimJobColumns+" FROM job WHERE "+hasWorker+" AND heartbeat IS NOT NULL AND worker IN (SELECT w.value FROM "+
		ended.SQL+" AS w)"+strings.ReplaceAll(rest, "%s", "heartbeat"), except, ended.Param, q.Limit)
}

// minOverduePause keeps rows that cannot be had, since somebody has them locked,
// from being asked for again and again.
const minOverduePause = time.Second

func (tx workTx) nextOverdue(ctx context.Context, lease time.Duration, others string, except any) (time.Duration, error) {
	var next struct{ Heartbeat, Retry, Later sqldb.RowTime }
	err := tx.First(ctx, &next, "SELECT (SELECT heartbeat FROM job WHERE "+hasWorker+` AND heartbeat IS NOT NULL`+others+`
			ORDER BY heartbeat LIMIT 1) AS heartbeat,
		(SELECT retry FROM job WHERE state = 'stuck' AND retry IS NOT NULL`+others+` ORDER BY retry LIMIT 1) AS retry,
		(SELECT retry FROM job WHERE `+waitsForTime+others+` ORDER BY retry LIMIT 1) AS later`, except)
	if err != nil {
		return 0, err
	}
	soonest := time.Duration(-1)
	consider := func(at time.Time, after time.Duration) {
		if wait := tx.until(at.Add(after)); !at.IsZero() && (soonest < 0 || wait < soonest) {
			soonest = wait
		}
	}
	consider(next.Heartbeat.Time(), lease)
	consider(next.Retry.Time(), 0)
	consider(next.Later.Time(), 0)
	return soonest, nil
}

// until is how long to wait for a time.
func (tx workTx) until(at time.Time) time.Duration {
	if wait := at.Sub(tx.Now()); wait > 0 {
		return wait + time.Millisecond
	}
	return minOverduePause
}
