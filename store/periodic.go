package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/backend"
)

// Periodic returns the database as the scheduler's store.
func (db *DB) Periodic() backend.Store { return schedulerStore{db} }

type schedulerStore struct{ db *DB }

func (s schedulerStore) Update(ctx context.Context, wait time.Duration, fn func(backend.Tx) error) error {
	return s.db.updateWithin(ctx, wait, func(tx *Tx) error { return fn(schedulerTx{tx}) })
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

func (s schedulerStore) Fault(err error) backend.Fault {
	switch {
	case errors.Is(err, ErrContended):
		return backend.FaultLock
	case errors.Is(err, ErrBusy), errors.Is(err, ErrUnavailable),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return backend.FaultDatabase
	case errors.Is(err, ErrRefused):
		return backend.FaultRow
	}
	return backend.FaultUnknown
}

// canBeClaimed is the condition of the index nextrun_task_due.
const canBeClaimed = `enabled AND worker IS NULL`

// workSummary is a row of what there is to do.
type workSummary struct {
	Due     bool
	Ready   bool
	Next    rowTime
	Marked  markTime
	Undated bool // there are marks without a time, or with one that no lease has
}

// Peek reads no table of jobs, which somebody may have locked.
func (s schedulerStore) Peek(ctx context.Context, without backend.Apart) (backend.Peek, error) {
	var found workSummary
	peek := backend.Peek{}
	err := s.db.View(ctx, func(tx *Tx) (err error) {
		peek.Now = tx.now
		if found, err = (schedulerTx{tx}).summary(ctx, without); err == nil && len(without.Keys) > 0 {
			peek.Versions, err = schedulerTx{tx}.versions(ctx, without.Keys)
		}
		return err
	})
	if err != nil {
		return backend.Peek{}, fmt.Errorf("look for due tasks: %w", err)
	}
	if found.Undated { // somebody wrote worker by hand: a mark that has expired
		found.Marked = markTime(periodic.Unplanned)
	}
	peek.Due, peek.Ready, peek.Next, peek.Marked = found.Due, found.Ready, found.Next.Time(), time.Time(found.Marked)
	return peek, nil
}

func (tx schedulerTx) summary(ctx context.Context, without backend.Apart) (found workSummary, err error) {
	args := []any{Timestamp(tx.now)}
	but, args, err := tx.but(without, args)
	if err != nil {
		return found, err
	}
	err = tx.get(ctx, &found, `SELECT
		EXISTS (SELECT 1 FROM periodic_task WHERE `+canBeClaimed+` AND nextrun <= $1`+but("")+`) AS due,
		(SELECT min(nextrun) FROM periodic_task WHERE `+canBeClaimed+` AND nextrun > $1`+but("")+`) AS next,
		EXISTS (SELECT 1 FROM periodic_ready) AS ready,
		(SELECT min(marked) FROM periodic_task WHERE worker IS NOT NULL AND `+isDated+`) AS marked,
		EXISTS (SELECT 1 FROM periodic_task WHERE worker IS NOT NULL AND (marked IS NULL OR NOT (`+isDated+`))) AS undated`,
		args...)
	return found, err
}

// schedulerTx is a transaction of the scheduler.
type schedulerTx struct{ *Tx }

func (tx schedulerTx) DBTX() jobqueue.DBTX { return tx.tx }
