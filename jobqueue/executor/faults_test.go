package executor_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
)

// faulty is a queue whose syncs go wrong on request.
type faulty struct {
	store.JobStore
	sync func(ctx context.Context, q exchange.Request) (exchange.Result, error)
	down atomic.Bool
}

func (f *faulty) LastGroup(ctx context.Context, name string) (string, error) {
	if f.down.Load() {
		return "", errDown
	}
	return f.JobStore.LastGroup(ctx, name)
}

func (f *faulty) Sync(ctx context.Context, q exchange.Request) (exchange.Result, error) {
	if f.down.Load() {
		return exchange.Result{}, errDown
	}
	if f.sync == nil {
		return f.JobStore.Sync(ctx, q)
	}
	return f.sync(ctx, q)
}

func (f *faulty) Beat(ctx context.Context, who exchange.Service, seen map[string]int64) (map[string]int64, error) {
	if f.down.Load() {
		return nil, errDown
	}
	return f.JobStore.Beat(ctx, who, seen)
}

var errDown = fmt.Errorf("%w: the connection broke", store.ErrUnavailable)

// A claim is committed, but the answer is lost: the job waits for nobody to die, and has not been interrupted.
func TestClaimThatWasNotHeardOf(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		lost := &faulty{JobStore: q.store}
		var claims atomic.Int64
		lost.sync = func(ctx context.Context, r exchange.Request) (exchange.Result, error) {
			result, err := q.store.Sync(ctx, r)
			if len(result.Claimed) > 0 && claims.Add(1) == 1 {
				return exchange.Result{}, errDown
			}
			return result, err
		}
		e := q.executorOn(lost, executor.Config{}, map[string]jobqueue.Handler{"t": nothing})
		e.start()
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		e.awaitEnd(jid, jobqueue.Success)
		if job := q.get(jid); claims.Load() != 2 || job.Interrupts != 0 || job.Retries != 0 {
			t.Errorf("after %d claims the job is %+v", claims.Load(), job)
		}
	})
}

// The beginning is committed, but the answer is lost, and then the executor is
// stopped: the handler was never called, so the job is unclaimed.
func TestShutdownReturnsAJobWhoseBeginningWasNotHeardOf(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		begun := make(chan string, 1)
		lost := &faulty{JobStore: q.store}
		stopping := make(chan struct{})
		lost.sync = func(ctx context.Context, r exchange.Request) (exchange.Result, error) {
			result, err := q.store.Sync(ctx, r)
			if len(result.Claimed) > 0 {
				begun <- result.Claimed[0].JID
				<-stopping
				return exchange.Result{}, errDown
			}
			return result, err
		}
		e := q.executorOn(lost, executor.Config{}, map[string]jobqueue.Handler{
			"t": func(context.Context, *jobqueue.JobContext) error { t.Error("it ran"); return nil },
		})
		start, stop := context.WithCancel(q.ctx)
		if err := e.Start(start); err != nil {
			t.Fatal(err)
		}
		q.submit(jobqueue.Job{Task: "t"})
		jid := receive(q, begun, "the beginning")
		stop()
		close(stopping)
		select {
		case <-e.Done():
		case <-time.After(patience):
			ctx, cancel := context.WithCancel(q.ctx)
			cancel()
			t.Errorf("the executor does not end: %v", e.Stop(ctx))
		}
		if job := q.get(jid); job.State != jobqueue.Waiting || job.Worker != "" || job.Interrupts != 0 || job.Retries != 0 {
			t.Errorf("the job is %+v", job)
		}
	})
}

// badError is an error whose text cannot be had.
type badError struct{ text string }

func (e *badError) Error() string { return e.text }

func TestErrorThatPanicsFailsTheJobOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		e := q.run(executor.Config{RetryLimit: executor.Never}, map[string]jobqueue.Handler{
			"t":    func(context.Context, *jobqueue.JobContext) error { var e *badError; return e },
			"good": nothing,
		})
		e.awaitEnd(q.submit(jobqueue.Job{Task: "t"})[0], jobqueue.Failed)
		e.awaitEnd(q.submit(jobqueue.Job{Task: "good"})[0], jobqueue.Success)
	})
}

func TestHandlerThatEndsItsGoroutineFailsTheJobOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		e := q.run(executor.Config{RetryLimit: executor.Never}, map[string]jobqueue.Handler{
			"t":    func(context.Context, *jobqueue.JobContext) error { runtime.Goexit(); return nil },
			"good": nothing,
		})
		e.awaitEnd(q.submit(jobqueue.Job{Task: "t"})[0], jobqueue.Failed)
		e.awaitEnd(q.submit(jobqueue.Job{Task: "good"})[0], jobqueue.Success)
	})
}

// While nothing can be written, a handler that has much to say goes on, and its log is written afterwards.
func TestLogDoesNotWaitForTheDatabase(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		s := &faulty{JobStore: q.store}
		const lines = 10_000 // several times what goes into one transaction
		said := make(chan struct{})
		e := q.executorOn(s, executor.Config{}, map[string]jobqueue.Handler{
			"t": func(ctx context.Context, job *jobqueue.JobContext) error {
				s.down.Store(true)
				for i := range lines {
					job.Log(jobqueue.Info, fmt.Sprint(i))
				}
				close(said)
				return ctx.Err()
			},
		}).start()
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		<-said
		e.await(3, "of trouble", kind(executor.EventTrouble))
		s.down.Store(false)
		e.awaitEnd(jid, jobqueue.Success)
		if log := q.log(jid); len(log) != lines+1 || log[lines] != fmt.Sprint(lines-1) {
			t.Errorf("%d lines", len(log))
		}
	})
}
