package executor_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
		q.mustStart(e)
		bad := q.submit(jobqueue.Job{Task: "t", Subject: "bad"})[0]
		good := q.submit(jobqueue.Job{Task: "t"})[0]
		e.await(1, "that name "+bad, refused(bad))
		e.awaitEnd(good, jobqueue.Success)
		err := q.stop(e)
		for _, part := range []string{bad, "not today"} {
			if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), good) {
				t.Errorf("stopped with %v, want it to name %q only", err, part)
			}
		}
	})
}

// The end of a periodic task's job needs the table periodic_task. A lock on it does
// not delay the stop either, whether the job ended before or after the stop began.
func TestStopGivesUpWhilePeriodicTasksAreLocked(t *testing.T) {
	for name, endsAfter := range map[string]bool{"ended before": false, "ends after": true} {
		t.Run(name, func(t *testing.T) {
			onPostgres(t, func(t *testing.T, q *fixture) {
				began, release := make(chan string, 1), make(chan struct{})
				e := q.executor(executor.Config{ShutdownGrace: time.Hour}, map[string]jobqueue.Handler{
					"t": func(_ context.Context, job *jobqueue.JobContext) error {
						began <- job.JID
						<-release
						return nil
					},
				})
				q.mustStart(e)
				jid := q.submit(jobqueue.Job{Task: "t", Tracker: "task"})[0]
				receive(q, began, "the job")
				tx := q.lock("LOCK TABLE periodic_task IN ACCESS EXCLUSIVE MODE")
				stopped := make(chan error, 1)
				if endsAfter {
					go func() { stopped <- e.Stop(context.Background()) }()
					e.await(1, "stopping", kind(executor.EventStopping))
					close(release)
				} else {
					close(release)
					go func() { stopped <- e.Stop(context.Background()) }()
				}
				err := receive(q, stopped, "the end of the executor")
				if err == nil || !strings.Contains(err.Error(), jid) || !strings.Contains(err.Error(), "lock timeout") {
					t.Errorf("stopped with %v, want it to name %s and the lock", err, jid)
				}
				if err := tx.Rollback(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
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

// mustStart starts an executor that the test stops.
func (q *fixture) mustStart(e *newExecutor) {
	q.Helper()
	if err := e.Start(context.WithoutCancel(q.ctx)); err != nil {
		q.Fatal(err)
	}
}

// stop waits for the return of Stop, without a limit of its own.
func (q *fixture) stop(e *newExecutor) error {
	q.Helper()
	stopped := make(chan error, 1)
	go func() { stopped <- e.Stop(context.Background()) }()
	return receive(q, stopped, "the end of the executor")
}
