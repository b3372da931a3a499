package jobs

import (
	"context"
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

// Overdue implements executor.Store.
func (s Store) Overdue(ctx context.Context, q exchange.OverdueQuery) (exchange.Overdue, error) {
	overdue := exchange.Overdue{Next: -1}
	look := s.db.View
	if s.db.SQL().ForUpdate != "" { // it locks rows, to find those that nobody has
		look = s.db.Update
	}
	err := look(ctx, func(outer *sqldb.Tx) (err error) {
		tx := workTx{jobTx{outer}}
		except := tx.Texts(1, q.Except)
		others := " AND CAST(jid AS text) NOT IN (SELECT v.value FROM " + except.SQL + " AS v)"
		rest := others + " ORDER BY %s LIMIT $3" + tx.SQL().ForUpdate
		if overdue.Dead, err = tx.ofDead(ctx, q, rest, except.Param); err != nil {
			return err
		}
		overdue.More = len(overdue.Dead) >= q.Limit
		overdue.Due, err = tx.jobs(ctx, slimColumns, "SELECT "+slimJobColumns+" FROM job WHERE "+waitsForTime+" AND retry <= $2"+
			strings.ReplaceAll(rest, "%s", "retry"), except.Param, sqldb.Timestamp(tx.Now()), q.Limit)
		if err != nil {
			return err
		}
		overdue.More = overdue.More || len(overdue.Due) >= q.Limit
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
	dead := tx.Texts(2, q.Dead)
	return tx.jobs(ctx, slimColumns, "SELECT "+slimJobColumns+" FROM job WHERE "+hasWorker+" AND worker IN (SELECT w.value FROM "+
		dead.SQL+" AS w)"+strings.ReplaceAll(rest, "%s", "worker"), except, dead.Param, q.Limit)
}

// minOverduePause keeps rows that cannot be had, since somebody has them locked,
// from being asked for again and again.
const minOverduePause = time.Second

func (tx workTx) nextRetry(ctx context.Context, others string, except any) (time.Duration, error) {
	var next sqldb.RowTime
	err := tx.First(ctx, &next, "SELECT (SELECT retry FROM job WHERE "+waitsForTime+" AND retry IS NOT NULL"+others+` ORDER BY retry LIMIT 1)`, except)
	if err != nil || next.Time().IsZero() {
		return -1, err
	}
	return tx.until(next.Time()), nil
}

// until is how long to wait for a time.
func (tx workTx) until(at time.Time) time.Duration {
	if wait := at.Sub(tx.Now()); wait > 0 {
		return wait + time.Millisecond
	}
	return minOverduePause
}
