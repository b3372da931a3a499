package executor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
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
