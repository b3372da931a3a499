package jobs

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// CancelRequests implements executor.Store.
func (s Store) CancelRequests(ctx context.Context, worker string) ([]string, error) {
	var jids []string
	err := s.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &jids, "SELECT jid FROM job WHERE "+hasWorker+" AND cancel IS NOT NULL AND worker = $1", worker)
	})
	return jids, err
}

// idleSQL asks whether no job waits, runs or is stuck. Each part is in the order of an index, so
// that no plan reads the whole table, however old its statistics are.
func idleSQL(sql *sqldb.Words) string {
	none := func(condition, order string) string {
		return "(SELECT jid FROM job WHERE " + condition + " ORDER BY " + order + " LIMIT 1) IS NULL"
	}
	return "SELECT " + none(hasWorker, "worker") + " AND " + none("state = 'stuck'", "retry") +
		" AND " + none(waitsForTime, "retry") + " AND " + none(claimable,
		sql.Bytewise("task")+", "+sql.Bytewise("group_")+", (priority > 5), submitted, jid")
}

// Overdue implements executor.Store.
func (s Store) Overdue(ctx context.Context, q exchange.OverdueQuery) (exchange.Overdue, error) {
	overdue := exchange.Overdue{Next: -1}
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
		if overdue.Dead, err = tx.ofDead(ctx, q, rest, except.Param); err != nil {
			return err
		}
		overdue.More = len(overdue.Dead) >= q.Limit
		for _, state := range []jobqueue.State{jobqueue.Stuck, jobqueue.Waiting} {
			due, err := tx.jobs(ctx, slimColumns, "SELECT "+slimJobColumns+" FROM job WHERE state = '"+string(state)+"' AND retry <= $2"+
				strings.ReplaceAll(rest, "%s", "retry"), except.Param, sqldb.Timestamp(tx.Now()), q.Limit)
			if err != nil {
				return err
			}
			overdue.Due = append(overdue.Due, due...)
			overdue.More = overdue.More || len(due) >= q.Limit
		}
		overdue.Next, err = tx.nextRetry(ctx, others, except.Param)
		return err
	})
	return overdue, err
}

// ofDead lists the jobs of workers that have died.
func (tx workTx) ofDead(ctx context.Context, q exchange.OverdueQuery, rest string, except any) ([]jobqueue.Job, error) {
	if len(q.Dead) == 0 {
		return nil, nil
	}
	dead, err := tx.Texts(2, q.Dead)
	if err != nil {
		return nil, err
	}
	return tx.jobs(ctx, slimColumns, "SELECT "+slimJobColumns+" FROM job WHERE "+hasWorker+" AND worker IN (SELECT w.value FROM "+
		dead.SQL+" AS w)"+strings.ReplaceAll(rest, "%s", "worker"), except, dead.Param, q.Limit)
}

// minOverduePause keeps rows that cannot be had, since somebody has them locked,
// from being asked for again and again.
const minOverduePause = time.Second

func (tx workTx) nextRetry(ctx context.Context, others string, except any) (time.Duration, error) {
	var next struct{ Retry, Later sqldb.RowTime }
	err := tx.First(ctx, &next, "SELECT (SELECT retry FROM job WHERE state = 'stuck' AND retry IS NOT NULL"+others+` ORDER BY retry LIMIT 1) AS retry,
		(SELECT retry FROM job WHERE `+waitsForTime+others+` ORDER BY retry LIMIT 1) AS later`, except)
	if err != nil {
		return 0, err
	}
	soonest := time.Duration(-1)
	for _, at := range []time.Time{next.Retry.Time(), next.Later.Time()} {
		if wait := tx.until(at); !at.IsZero() && (soonest < 0 || wait < soonest) {
			soonest = wait
		}
	}
	return soonest, nil
}

// until is how long to wait for a time.
func (tx workTx) until(at time.Time) time.Duration {
	if wait := at.Sub(tx.Now()); wait > 0 {
		return wait + time.Millisecond
	}
	return minOverduePause
}
