package jobs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/store/internal/workers"
)

// keptPlans is how long the plans of an executor's statements last. The table of jobs may be
// empty now, and have a million rows a moment later, which PostgreSQL learns of only when it is analysed.
const keptPlans = 5 * time.Second

// Sync implements executor.Store. Only the worker should lock its rows, so Sync
// updates them without locking them first, which would double its time.
func (s Store) Sync(ctx context.Context, q exchange.Request) (result exchange.Result, err error) {
	ctx = sqldb.Keep(ctx, keptPlans)
	wait := sqldb.BatchLockWait
	if q.Brief {
		wait = sqldb.BriefLockWait
	}
	err = s.db.UpdateWithin(ctx, wait, func(outer *sqldb.Tx) (err error) {
		tx := claimTx{workTx{jobTx{outer}}}
		lines, err := tx.linesOfKnownJobs(ctx, q.Lines)
		if err != nil {
			return err
		}
		if err := tx.progress(ctx, q.Worker, q.Progress); err != nil {
			return err
		}
		moves, err := tx.fenced(ctx, q.Transitions)
		if err != nil {
			return err
		}
		if result.Done, err = tx.transitions(ctx, moves); err != nil {
			return err
		}
		said, missed := sorted(q.Transitions, sqldb.Set(result.Done))
		if result.Missed, err = tx.status(ctx, missed); err != nil {
			return err
		}
		lines = append(lines, said...)
		// Ticks may wait for these ends, also of those that a handler has written in its own transaction.
		if len(result.Done) > 0 || slices.ContainsFunc(result.Missed, func(s exchange.JobStatus) bool { return s.State.Final() }) {
			tx.Changes(sqldb.TopicTasks)
		}
		if result.Compared, err = tx.compare(ctx, q); err != nil {
			return err
		}
		if err := tx.claim(ctx, q.Worker, q.Claim, &result); err != nil {
			return err
		}
		if err := tx.insertLines(ctx, append(lines, result.Begins(q.Worker)...)); err != nil {
			return err
		}
		if err := tx.tellHooks(ctx, q, result); err != nil {
			return err
		}
		return tx.recordGroup(ctx, q.Claim, result.Turn.Group)
	})
	return result, err
}

// sorted returns the lines of the transitions that were done, and the jobs of the others.
func sorted(list []exchange.Transition, done map[string]bool) (lines []exchange.Line, missed []string) {
	for _, t := range list {
		if done[t.JID] {
			lines = append(lines, t.Lines...)
		} else {
			missed = append(missed, t.JID)
		}
	}
	return lines, missed
}

// Complete implements executor.Store.
func (s Store) Complete(ctx context.Context, outer jobqueue.DBTX, c exchange.Completion) error {
	joined, err := s.Join(ctx, outer)
	if err != nil {
		return fmt.Errorf("complete job %s: %w", c.End.JID, err)
	}
	tx := workTx{joined.(jobTx)}
	// Locks the row, so that nobody takes the job until the caller's transaction has ended.
	n, err := tx.Exec(ctx, "UPDATE job SET progress = 100 WHERE jid = $1 AND started = $3 AND "+heldByWorker, c.End.JID, c.End.Worker, sqldb.Timestamp(c.Started))
	if err != nil {
		return fmt.Errorf("complete job %s: %w", c.End.JID, err)
	}
	var done []string
	if n > 0 {
		done, err = tx.transitions(ctx, []exchange.Transition{c.End})
	}
	if err == nil && len(done) == 0 {
		err = fmt.Errorf("%w: it is not that of this attempt any more; roll the transaction back", jobqueue.ErrLeaseLost)
	}
	if err == nil {
		err = tx.tellHooks(ctx, exchange.Request{Transitions: []exchange.Transition{c.End}, Hooks: c.Hooks}, exchange.Result{Done: done})
	}
	if err != nil {
		return fmt.Errorf("complete job %s: %w", c.End.JID, err)
	}
	return nil
}

// Fault implements [executor.Store].
func (Store) Fault(err error) service.Fault { return sqldb.FaultOf(err) }

// workTx is a transaction of an executor.
type workTx struct{ jobTx }

// fenced returns the transitions without those of workers that were taken for dead, and are not: their beat has
// moved, or somebody holds their row. Until the transaction ends, the dead ones cannot beat.
func (tx workTx) fenced(ctx context.Context, list []exchange.Transition) ([]exchange.Transition, error) {
	beats := map[string]int64{}
	for _, t := range list {
		if t.Dead {
			beats[t.Worker] = t.Beat
		}
	}
	if len(beats) == 0 {
		return list, nil
	}
	dead, err := workers.Lock(ctx, tx.Tx, beats)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(t exchange.Transition) bool { return t.Dead && !dead[t.Worker] }), nil
}

// compare finds the jobs that run under the worker's id, and that it does not have: the reply to their claim was lost. They
// wait again, or are cancelled if somebody has asked for that. It returns the status of the jobs that the worker has.
func (tx workTx) compare(ctx context.Context, q exchange.Request) ([]exchange.JobStatus, error) {
	if !q.Compare {
		return nil, nil
	}
	r := tx.Texts(1, q.InFlight)
	_, err := tx.Exec(ctx, `UPDATE job SET state = CASE WHEN cancel IS NULL THEN 'waiting' ELSE 'cancelled' END,
			worker = CASE WHEN cancel IS NULL THEN NULL ELSE worker END,
			finished = CASE WHEN cancel IS NULL THEN finished ELSE $3 END,
			result = CASE WHEN cancel IS NULL THEN result ELSE 'cancelled before it began' END
		WHERE jid IN (SELECT jid FROM job WHERE `+hasWorker+` AND worker = $2
			AND jid NOT IN (SELECT v.value FROM `+r.SQL+` AS v)`+tx.SQL().ForUpdate+`)`, r.Param, q.Worker, sqldb.Timestamp(tx.Now()))
	if err != nil {
		return nil, err
	}
	return tx.status(ctx, q.InFlight)
}

func (tx workTx) progress(ctx context.Context, worker string, list []exchange.Progress) error {
	if len(list) == 0 {
		return nil
	}
	r := tx.DB().Records(1, []sqldb.Field{sqldb.Text("jid"), sqldb.Int("percent")}, len(list),
		func(i int) []any { return []any{list[i].JID, list[i].Percent} })
	_, err := tx.Exec(ctx, `UPDATE job SET progress = r.percent FROM `+r.SQL+` AS r
		WHERE job.jid = r.jid AND job.state <> 'scheduled' AND `+heldByWorker, r.Param, worker)
	return err
}

// status returns the status of jobs, in no order. Jobs that are gone are among
// them, without a state.
func (tx workTx) status(ctx context.Context, jids []string) ([]exchange.JobStatus, error) {
	if len(jids) == 0 {
		return nil, nil
	}
	r := tx.Texts(1, jids)
	var list []exchange.JobStatus
	err := tx.Select(ctx, &list, `SELECT v.value AS jid, coalesce(j.state, '') AS state, coalesce(j.worker, '') AS worker,
			j.cancel IS NOT NULL AS cancel
		FROM `+r.SQL+` AS v LEFT JOIN job AS j ON j.jid = v.value`, r.Param)
	return list, err
}
