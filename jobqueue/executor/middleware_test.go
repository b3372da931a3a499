package executor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

func TestMiddlewareOrderAndTimeout(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		var order []string
		note := func(name string) jobqueue.Middleware {
			return func(next jobqueue.Handler) jobqueue.Handler {
				return func(ctx context.Context, job *jobqueue.JobContext) error {
					order = append(order, name)
					return next(ctx, job)
				}
			}
		}
		e := q.executor(executor.Config{RetryLimit: executor.Never}, nil)
		e.Register("slow", func(ctx context.Context, _ *jobqueue.JobContext) error { <-ctx.Done(); return ctx.Err() },
			note("outer"), jobqueue.Timeout(time.Millisecond), note("inner"))
		e.start()
		jid := q.submit(jobqueue.Job{Task: "slow"})[0]
		e.awaitEnd(jid, jobqueue.Failed)
		if !slices.Equal(order, []string{"outer", "inner"}) {
			t.Errorf("order %q", order)
		}
		if job := q.get(jid); !strings.Contains(job.Result, jobqueue.ErrTimeout.Error()) {
			t.Errorf("result %q", job.Result)
		}
	})
}

func TestPermanentAndRetryAfterKeepTheError(t *testing.T) {
	cause := errors.New("cause")
	if err := jobqueue.Permanent(cause); !errors.Is(err, cause) || !jobqueue.IsPermanent(err) || err.Error() != "cause" {
		t.Error(err)
	}
	if err := jobqueue.RetryAfter(cause, time.Second); !errors.Is(err, cause) || jobqueue.IsPermanent(err) {
		t.Error(err)
	}
	if jobqueue.Permanent(nil) != nil || jobqueue.RetryAfter(nil, 1) != nil || jobqueue.IsPermanent(nil) {
		t.Error("nil became an error")
	}
}
