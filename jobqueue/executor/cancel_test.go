package executor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
)

func TestCancelRunningJobFromAnotherProcess(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		began, cause := make(chan string, 1), make(chan error, 1)
		// Neither a comparison nor a poll comes to its help.
		e := q.run(executor.Config{PollInterval: 10 * time.Hour}, map[string]jobqueue.Handler{
			"t": func(ctx context.Context, job *jobqueue.JobContext) error {
				began <- job.JID
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return ctx.Err()
			},
		})
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		receive(q, began, "the handler")
		state, err := jobqueue.NewQueue(q.Open().Jobs()).Cancel(q.ctx, jid)
		if err != nil || state != jobqueue.Running {
			t.Errorf("cancel: %s, %v", state, err)
		}
		if err := receive(q, cause, "the end of the context"); !errors.Is(err, jobqueue.ErrCancelled) {
			t.Errorf("cause: %v", err)
		}
		e.awaitEnd(jid, jobqueue.Cancelled)
		if job := q.get(jid); job.Finished.IsZero() || job.Cancel.IsZero() {
			t.Errorf("%+v", job)
		}
	})
}

func TestCancelWaitingAndStuckJobs(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		waiting := q.submit(jobqueue.Job{Task: "t"})[0]
		stuck := q.submit(jobqueue.Job{Task: "t"})[0]
		q.sql("UPDATE job SET state = 'stuck', retry = %s WHERE jid = '%s'", utc(time.Now().Add(time.Hour)), stuck)
		for _, jid := range []string{waiting, stuck} {
			if state, err := q.queue.Cancel(q.ctx, jid); err != nil || state != jobqueue.Cancelled {
				t.Errorf("cancel: %s, %v", state, err)
			}
			if job := q.get(jid); job.State != jobqueue.Cancelled || job.Finished.IsZero() {
				t.Errorf("%+v", job)
			}
			if _, err := q.queue.Cancel(q.ctx, jid); !errors.Is(err, jobqueue.ErrFinal) {
				t.Errorf("cancelled twice: %v", err)
			}
		}
		if _, err := q.queue.Cancel(q.ctx, "none"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("cancel what is not there: %v", err)
		}
	})
}

func TestCancelledJobThatFailsIsNotRetried(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		began, release := make(chan string, 1), make(chan struct{})
		e := q.run(executor.Config{}, map[string]jobqueue.Handler{
			"t": func(_ context.Context, job *jobqueue.JobContext) error {
				began <- job.JID
				<-release
				return errors.New("failed by itself")
			},
		})
		q.submit(jobqueue.Job{Task: "t"})
		jid := receive(q, began, "the handler")
		// Asked in a transaction that ends after the handler has.
		tx, err := q.SQL.BeginTx(q.ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.queue.In(tx).Cancel(q.ctx, jid); err != nil {
			t.Fatal(err)
		}
		close(release)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		e.awaitEnd(jid, jobqueue.Cancelled)
	})
}
