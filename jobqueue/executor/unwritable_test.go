package executor_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

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
