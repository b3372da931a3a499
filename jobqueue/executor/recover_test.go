package executor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

func TestJobsOfADeadWorkerRunAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		running, scheduled, asked := q.inState(jobqueue.Running), q.inState(jobqueue.Scheduled), q.inState(jobqueue.Running)
		q.sql("UPDATE job SET cancel = submitted WHERE jid = '%s'", asked)
		q.beats(worker, 5)
		attempts := make(chan int, 2)
		e := q.executor(executor.Config{}, map[string]jobqueue.Handler{
			"t": func(_ context.Context, job *jobqueue.JobContext) error { attempts <- job.Attempt(); return nil },
		}).hastened().start()
		e.awaitEnd(running, jobqueue.Success)
		e.awaitEnd(scheduled, jobqueue.Success)
		got := []int{receive(q, attempts, "an attempt"), receive(q, attempts, "an attempt")}
		slices.Sort(got)
		if !slices.Equal(got, []int{1, 2}) {
			t.Errorf("attempts %v: what never began does not count", got)
		}
		if job := q.get(running); job.Interrupts != 1 || job.Retries != 0 {
			t.Errorf("%+v", job)
		}
		if log := q.log(running); !strings.HasPrefix(log[0], "interrupted: worker me@000000000001 ") || !strings.HasPrefix(log[1], "attempt 2 ") {
			t.Errorf("log %q", log)
		}
		e.await(3, "of an interruption", kind(executor.EventInterrupted))
		if job := q.get(asked); job.State != jobqueue.Cancelled {
			t.Errorf("the job that somebody has cancelled is %+v", job)
		}
	})
}

func TestJobsOfOtherExecutorsAreNeverTouched(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		before := map[string]jobqueue.Job{}
		for i, columns := range []string{
			"'running', 'docspell', NULL", "'scheduled', 'docspell@home', NULL",
			"'stuck', 'docspell', NULL", "'dreaming', NULL, NULL",
			"'dreaming', 'other', '2020-01-01 00:00:00.000000'",
		} {
			jid := fmt.Sprintf("foreign%d", i)
			q.sql(`INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, retries, progress,
				state, worker, retry) VALUES ('%s', 't', 'g', '{}', '', %s, 'x', 0, 0, 0, %s)`, jid, utc(time.Now()), columns)
			if before[jid] = q.get(jid); !before[jid].Foreign() {
				t.Errorf("%s counts as ours", columns)
			}
		}
		mine := q.submit(jobqueue.Job{Task: "t"})[0]
		s, compared := q.comparing()
		e := q.executorOn(s, executor.Config{}, map[string]jobqueue.Handler{"t": nothing}).hastened().start()
		e.awaitEnd(mine, jobqueue.Success)
		for range 10 {
			receive(q, compared, "a comparison")
		}
		for jid, job := range before {
			if _, err := q.queue.Cancel(q.ctx, jid); !errors.Is(err, jobqueue.ErrForeign) {
				t.Errorf("cancel: %v", err)
			}
			if after := q.get(jid); after != job {
				t.Errorf("%+v became %+v", job, after)
			}
		}
	})
}

// A worker that gets a job again, which it had lost, ends the older attempt, and does not take its end for that of the new one.
func TestJobThatComesBackToItsWorker(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		began, first, second := make(chan string, 2), make(chan error, 1), make(chan error)
		tries := make(chan int, 2)
		tries <- 1
		tries <- 2
		e := q.run(executor.Config{PoolSize: 2}, map[string]jobqueue.Handler{
			"t": func(ctx context.Context, job *jobqueue.JobContext) error {
				try := <-tries
				began <- job.JID
				if try == 2 {
					return <-second
				}
				<-ctx.Done()
				first <- context.Cause(ctx)
				return jobqueue.Permanent(errBroken)
			},
		})
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		receive(q, began, "the first attempt")
		q.sql("UPDATE job SET state = 'waiting', worker = NULL WHERE jid = '%s'", jid)
		receive(q, began, "the second attempt")
		if cause := receive(q, first, "the end of the first attempt"); !errors.Is(cause, jobqueue.ErrLeaseLost) {
			t.Errorf("the first attempt ended for %v", cause)
		}
		e.await(1, "lost", kind(executor.EventLost))
		second <- nil
		e.awaitEnd(jid, jobqueue.Success)
	})
}

// A process that slept is taken for dead, and another worker runs its job, which fails, and ends. When the first one wakes up and is the one to
// retry the job, its own old attempt ends: it has not been told otherwise yet.
func TestRetryOfAJobThatWasLostInSleep(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		began, cause := make(chan string, 2), make(chan error, 1)
		tries := make(chan int, 2)
		tries <- 1
		tries <- 2
		e := q.run(executor.Config{PoolSize: 2, PollInterval: 200 * time.Millisecond}, map[string]jobqueue.Handler{
			"t": func(ctx context.Context, job *jobqueue.JobContext) error {
				try := <-tries
				began <- job.JID
				if try == 2 {
					return nil
				}
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return ctx.Err()
			},
		})
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		receive(q, began, "the first attempt")
		q.sql("UPDATE job SET state = 'stuck', worker = 'other@000000000009', retries = 1, retry = %s WHERE jid = '%s'", utc(time.Now()), jid)
		if err := receive(q, cause, "the end of the old attempt"); !errors.Is(err, jobqueue.ErrLeaseLost) {
			t.Errorf("cause: %v", err)
		}
		receive(q, began, "the retry")
		e.awaitEnd(jid, jobqueue.Success)
		if n := e.count(func(v executor.Event) bool { return v.Kind == executor.EventEnded && v.State == "" }); n != 0 {
			t.Error("the old attempt is said to have ended without a state")
		}
	})
}

// A claim may be committed long after its executor has given up waiting for it, and has compared its jobs.
func TestJobThatTheWorkerDoesNotKnowOfWaitsAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		e := q.executor(executor.Config{}, map[string]jobqueue.Handler{"t": nothing}).hastened().start()
		q.sql("INSERT INTO job (jid, task, state, worker) VALUES ('late', 't', 'running', '%s')", e.Worker())
		e.awaitEnd("late", jobqueue.Success)
		q.Want("0 0", "SELECT interrupts || ' ' || retries FROM job")
	})
}

// Nobody runs a job whose claim was lost and that somebody has cancelled since.
func TestCancelledJobThatTheWorkerDoesNotKnowOf(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		s, compared := q.comparing()
		e := q.executorOn(s, executor.Config{}, map[string]jobqueue.Handler{"t": nothing}).hastened().start()
		q.sql("INSERT INTO job (jid, task, state, worker, cancel) VALUES ('late', 't', 'running', '%s', %s)", e.Worker(), utc(time.Now()))
		receive(q, compared, "a comparison under way")
		receive(q, compared, "a comparison")
		receive(q, compared, "the end of that")
		if job := q.get("late"); job.State != jobqueue.Cancelled || job.Finished.IsZero() || job.Result == "" {
			t.Errorf("%+v", job)
		}
	})
}
