package executor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
)

func TestShutdownReturnsJobsAfterTheGrace(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		began, cause := make(chan string, 1), make(chan error, 1)
		e := q.run(executor.Config{ShutdownGrace: -1}, map[string]jobqueue.Handler{
			"t": func(ctx context.Context, job *jobqueue.JobContext) error {
				began <- job.JID
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return ctx.Err()
			},
		})
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		receive(q, began, "the handler")
		if err := e.Stop(q.ctx); err != nil {
			t.Error(err)
		}
		if err := receive(q, cause, "the cause"); !errors.Is(err, jobqueue.ErrShutdown) {
			t.Errorf("cause: %v", err)
		}
		e.await(1, "of cancelled jobs", kind(executor.EventHurried))
		job := q.get(jid)
		if job.State != jobqueue.Waiting || job.Worker != "" || job.Retries != 0 || job.Interrupts != 0 {
			t.Errorf("returned as %+v", job)
		}
		// A new process of the same name has it at once.
		next := q.run(executor.Config{}, map[string]jobqueue.Handler{"t": nothing})
		next.awaitEnd(jid, jobqueue.Success)
	})
}

func TestStopGivesUpOnAHandlerThatDoesNotReturn(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		began, release := make(chan struct{}), make(chan struct{})
		defer close(release)
		e := q.executor(executor.Config{ShutdownGrace: time.Hour}, map[string]jobqueue.Handler{
			"t": func(context.Context, *jobqueue.JobContext) error { close(began); <-release; return nil },
		})
		if err := e.Start(q.ctx); err != nil {
			t.Fatal(err)
		}
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		receive(q, began, "the handler")
		ctx, cancel := context.WithCancel(q.ctx)
		cancel()
		if err := e.Stop(ctx); err == nil {
			t.Error("stopped although the handler runs")
		}
		if job := q.get(jid); job.State != jobqueue.Running {
			t.Errorf("left to its lease: %+v", job)
		}
	})
}

// Once only ends are left that the database does not take, Stop does not wait for the
// grace time, which is for handlers. It tries for the time of a lease, names these
// jobs, and says why.
func TestStopGivesUpOnEndsThatCannotBeRecorded(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		q.trigger("NEW.state = 'success'", "RAISE EXCEPTION 'not today'", "SELECT raise(ABORT, 'not today')")
		e := q.executor(executor.Config{ShutdownGrace: time.Hour}, map[string]jobqueue.Handler{"t": nothing})
		if err := e.Start(context.WithoutCancel(q.ctx)); err != nil {
			t.Fatal(err)
		}
		bad := q.submit(jobqueue.Job{Task: "t", Subject: "bad"})[0]
		good := q.submit(jobqueue.Job{Task: "t"})[0]
		e.await(1, "that name "+bad, refused(bad))
		e.awaitEnd(good, jobqueue.Success)
		err := <-storetest.Stop(t, e.Stop)
		for _, part := range []string{bad, "not today"} {
			if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), good) {
				t.Errorf("stopped with %v, want it to name %q only", err, part)
			}
		}
	})
}

// A database that is down does not delay the stop either, and a handler that still
// runs has its grace time.
func TestStopGivesUpWhileTheDatabaseIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{overdue: exchange.Overdue{Next: -1}, jobs: []jobqueue.Job{{JID: "the-job", Task: "t"}}}
		e, _ := startFake(t, s, executor.Config{ShutdownGrace: time.Hour}, func(ctx context.Context, _ *jobqueue.JobContext) error {
			pass(30 * time.Minute)
			return ctx.Err()
		})
		pass(time.Minute)
		s.goDown(errDown)
		began := time.Now()
		err := e.Stop(context.Background())
		if err == nil || !strings.Contains(err.Error(), "the-job") || !strings.Contains(err.Error(), "the connection broke") {
			t.Errorf("stopped with %v, want it to name the job and the reason", err)
		}
		if took := time.Since(began); took < 29*time.Minute || took > 30*time.Minute {
			t.Errorf("stopped after %s, want soon after the handler had returned", took)
		}
	})
}

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
