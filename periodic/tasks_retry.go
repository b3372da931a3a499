package periodic

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Retry puts a job that failed or was cancelled back into its queue, which is not nextrun's own; jid is the
// [Tick.JID] of its tick. It returns store.ErrNotFound if no tick has it, a [*PendingError] if another job of
// the task is pending, and an error if the queue cannot put jobs back; [Tasks.RunNow] runs the task anew.
func (s *Tasks) Retry(ctx context.Context, jid string) error {
	err := s.store.Update(ctx, func(tx TaskTx) error {
		tick, err := endedTick(ctx, tx, jid)
		if err != nil {
			return err
		}
		t, err := tx.Get(ctx, tick.TaskID, true)
		if err == nil {
			err = putBack(ctx, tx, s.store.Queues(s.queues)[t.Sink], s.queues[t.Sink], t, tick)
		}
		return about(tick.TaskID, err)
	})
	if err != nil {
		err = fmt.Errorf("retry job %s: %w", jid, err)
	}
	return err
}

// putBack puts the job of a tick back into the queue of its task, which a submitter feeds.
func putBack(ctx context.Context, tx TaskTx, queue Queue, feeds sink.Submitter, t Task, tick Tick) error {
	retrier, _ := feeds.(sink.Retrier)
	back, ok := queue.(interface {
		PutBack(ctx context.Context, tx jobqueue.DBTX, job jobqueue.Job, ended time.Time) (bool, error)
	})
	switch {
	case queue == nil:
		return &SinkError{Sink: t.Sink}
	case !ok || retrier == nil || !retrier.Retries():
		return fmt.Errorf("the queue %q cannot put a job back; to run the task anew: nextrun task run %s", t.Sink, text.Word(t.ID))
	}
	bare, now := tx.Bare()
	job := t.Job(tick.JID, tick.Due, now)
	if err := inTheWay(ctx, tx, queue, job); err != nil {
		return err
	}
	done, err := back.PutBack(ctx, bare, job, tick.Finished)
	if err == nil && !done {
		err = fmt.Errorf("the queue %q does not have it any more, or somebody has put it back; to run the task anew: nextrun task run %s", t.Sink, text.Word(t.ID))
	}
	if err != nil {
		return err
	}
	return tx.Reopen(ctx, tick)
}

// endedTick reads the tick of a job that failed or was cancelled in another queue.
func endedTick(ctx context.Context, tx TaskTx, jid string) (Tick, error) {
	ticks, err := tx.Ticks(ctx, TickFilter{JID: jid, Limit: 1})
	switch {
	case err != nil:
		return Tick{}, err
	case jid == "" || len(ticks) == 0:
		return Tick{}, ErrNotFound
	}
	k := ticks[0]
	switch k.Ended {
	case sink.EndFailed, sink.EndCancelled:
		return k, nil
	case "":
		return k, jobqueue.ErrNotFinal
	}
	return k, fmt.Errorf("it ended as %s; only one that failed or was cancelled can be put back", k.Ended)
}
