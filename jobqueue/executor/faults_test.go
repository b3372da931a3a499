package executor_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
)

// synced is a queue with a sync of a test's own.
type synced struct {
	executor.Store
	sync func(ctx context.Context, q exchange.Request) (exchange.Result, error)
}

func (s *synced) Sync(ctx context.Context, q exchange.Request) (exchange.Result, error) {
	return s.sync(ctx, q)
}

// comparing is a queue that tells of comparisons.
func (q *fixture) comparing() (executor.Store, <-chan struct{}) {
	compared := make(chan struct{}, 1)
	return &synced{q.store, func(ctx context.Context, r exchange.Request) (exchange.Result, error) {
		result, err := q.store.Sync(ctx, r)
		if r.Compare {
			select {
			case compared <- struct{}{}:
			default:
			}
		}
		return result, err
	}}, compared
}

var errDown = fmt.Errorf("%w: the connection broke", store.ErrUnavailable)

// A claim is committed, but the answer is lost: the job waits for nobody to die, and has not been interrupted.
func TestClaimThatWasNotHeardOf(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		var claims atomic.Int64
		lost := &synced{q.store, func(ctx context.Context, r exchange.Request) (exchange.Result, error) {
			result, err := q.store.Sync(ctx, r)
			if len(result.Claimed) > 0 && claims.Add(1) == 1 {
				return exchange.Result{}, errDown
			}
			return result, err
		}}
		e := q.executorOn(lost, executor.Config{}, map[string]jobqueue.Handler{"t": nothing}).start()
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
		begun, stopping := make(chan string, 1), make(chan struct{})
		lost := &synced{q.store, func(ctx context.Context, r exchange.Request) (exchange.Result, error) {
			result, err := q.store.Sync(ctx, r)
			if len(result.Claimed) > 0 {
				begun <- result.Claimed[0].JID
				<-stopping
				return exchange.Result{}, errDown
			}
			return result, err
		}}
		e := q.executorOn(lost, executor.Config{}, map[string]jobqueue.Handler{
			"t": func(context.Context, *jobqueue.JobContext) error { t.Error("it ran"); return nil },
		}).start()
		q.submit(jobqueue.Job{Task: "t"})
		jid := receive(q, begun, "the beginning")
		stopped := storetest.Stop(t, e.Stop)
		close(stopping)
		if err := receive(q, stopped, "the end of the executor"); err != nil {
			t.Error(err)
		}
		if job := q.get(jid); job.State != jobqueue.Waiting || job.Worker != "" || job.Interrupts != 0 || job.Retries != 0 {
			t.Errorf("the job is %+v", job)
		}
	})
}

// badError is an error whose text cannot be had.
type badError struct{ text string }

func (e *badError) Error() string { return e.text }

// A handler that goes wrong in whatever way fails its own job only.
func TestHandlerThatGoesWrongFailsItsJobOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		e := q.run(executor.Config{RetryLimit: executor.Never}, map[string]jobqueue.Handler{
			"panics":             func(context.Context, *jobqueue.JobContext) error { panic("boom\x00") },
			"error panics":       func(context.Context, *jobqueue.JobContext) error { var e *badError; return e },
			"ends its goroutine": func(context.Context, *jobqueue.JobContext) error { runtime.Goexit(); return nil },
			"works":              nothing,
		})
		for handler, said := range map[string]string{"panics": "panic: boom", "error panics": "", "ends its goroutine": ""} {
			jid := q.submit(jobqueue.Job{Task: handler})[0]
			e.awaitEnd(jid, jobqueue.Failed)
			if result := q.get(jid).Result; !strings.Contains(result, said) {
				t.Errorf("%s: result %q", handler, result)
			}
		}
		e.awaitEnd(q.submit(jobqueue.Job{Task: "works"})[0], jobqueue.Success)
	})
}
