package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// Periodic returns the database as the scheduler's store.
func (db *DB) Periodic() periodic.Store { return schedulerStore{db} }

type schedulerStore struct{ db *DB }

func (s schedulerStore) Update(ctx context.Context, fn func(periodic.Tx) error) error {
	// A row that somebody has locked is to hold up its own task only.
	return s.db.updateBriefly(ctx, func(tx *Tx) error { return fn(schedulerTx{tx}) })
}

func (s schedulerStore) Watch(ctx context.Context, wake func(), report func(error)) {
	s.db.dialect.watch(ctx, []topic{topicTasks}, wake, report)
}

func (s schedulerStore) Submitters() map[periodic.Sink]periodic.Submitter {
	return map[periodic.Sink]periodic.Submitter{
		periodic.SinkJob:   jobSubmitter(s),
		periodic.SinkEvent: eventSubmitter(s),
	}
}

func (s schedulerStore) Contended(err error) bool { return errors.Is(err, ErrContended) }

func (s schedulerStore) Transient(err error) bool {
	return errors.Is(err, ErrBusy) || errors.Is(err, ErrUnavailable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// canBeClaimed is the condition of the index nextrun_task_due.
const canBeClaimed = `enabled AND worker IS NULL`

func (s schedulerStore) Peek(ctx context.Context) (periodic.Peek, error) {
	var found glance
	var now time.Time
	err := s.db.View(ctx, func(tx *Tx) (err error) {
		now = tx.now
		found, err = schedulerTx{tx}.glance(ctx)
		return err
	})
	if err == nil && found.Unasked {
		var locked bool
		if locked, err = s.askAgain(ctx); locked {
			found.sooner(now.Add(askEvery))
		}
	}
	if err == nil && found.Leftover && !found.Due && !found.Ready {
		err = s.forgetReady(ctx)
	}
	if err != nil {
		return periodic.Peek{}, fmt.Errorf("look for due tasks: %w", err)
	}
	if found.Undated { // somebody set worker alone: a mark that has expired
		found.Marked.Timestamp = Timestamp(periodic.Unplanned)
	}
	return periodic.Peek{Now: now, Due: found.Due || found.Ready, Next: found.Next.Time(), Marked: found.Marked.Time()}, nil
}

// glance is what there is to do.
type glance struct {
	Due, Ready bool // tasks whose time has come, queued ticks to take
	Unasked    bool // jobs to replace that were locked
	Leftover   bool // rows of periodic_ready that are nothing
	Undated    bool // marks without a time
	Next       rowTime
	Marked     rowTime
}

// sooner has the next look made at a time, unless one comes before it.
func (g *glance) sooner(at time.Time) {
	if next := g.Next.Time(); next.IsZero() || at.Before(next) {
		g.Next.Timestamp = Timestamp(at)
	}
}

func (tx schedulerTx) glance(ctx context.Context) (found glance, err error) {
	err = tx.get(ctx, &found, `SELECT
		EXISTS (SELECT 1 FROM periodic_task WHERE `+canBeClaimed+` AND nextrun <= $1) AS due,
		EXISTS (SELECT 1 FROM `+readyQueued+`) AS ready,
		EXISTS (SELECT 1 FROM periodic_ready AS r WHERE `+isLeftover+`) AS leftover,
		EXISTS (SELECT 1 FROM periodic_ready AS r WHERE `+notAsked+`) AS unasked,
		(SELECT min(nextrun) FROM periodic_task WHERE `+canBeClaimed+` AND nextrun > $1) AS next,
		(SELECT min(marked) FROM periodic_task WHERE worker IS NOT NULL) AS marked,
		EXISTS (SELECT 1 FROM periodic_task WHERE worker IS NOT NULL AND (marked IS NULL OR marked >= '9999-12-31')) AS undated`,
		Timestamp(tx.now))
	return found, err
}

// schedulerTx is a transaction of the scheduler.
type schedulerTx struct{ *Tx }

func (tx schedulerTx) DBTX() jobqueue.DBTX { return tx.tx }

func (tx schedulerTx) ClearMarks(ctx context.Context, worker string, lease time.Duration) (int, error) {
	if worker != "" { // a scheduler starts
		if err := tx.findReady(ctx); err != nil {
			return 0, err
		}
	}
	n, err := tx.exec(ctx, `UPDATE periodic_task SET worker = NULL, marked = NULL WHERE id IN (
			SELECT id FROM periodic_task WHERE worker IS NOT NULL AND (
				marked IS NULL OR marked < $1 OR marked > $2
				OR ($3 <> '' AND (worker = $3 OR substr(worker, 1, length($3) + 1) = $3 || '/')))`+
		tx.db.dialect.lockRows()+`)`,
		Timestamp(tx.now.Add(-lease)), Timestamp(tx.now.Add(lease)), worker)
	return int(n), err
}

func (tx schedulerTx) Unmark(ctx context.Context, mark string) (int, error) {
	_, err := tx.exec(ctx, `UPDATE periodic_task SET worker = NULL, marked = NULL WHERE id IN (
			SELECT id FROM periodic_task WHERE worker = $1`+tx.db.dialect.lockRows()+`)`, mark)
	if err != nil {
		return 0, err
	}
	var left int
	err = tx.get(ctx, &left, `SELECT count(*) FROM periodic_task WHERE worker = $1`, mark)
	return left, err
}
