package executor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// punctual submits jobs of the task "good" one after the other, and fails unless the time
// from submitting one to its handler's call is short.
func (q *fixture) punctual(runs <-chan string) {
	q.Helper()
	storetest.Punctual(q, "healthy jobs", func() (waits []time.Duration) {
		for range 25 {
			began := time.Now()
			q.submit(jobqueue.Job{Task: "good"})
			receive(q, runs, "a healthy job")
			waits = append(waits, time.Since(began))
		}
		return waits
	})
}

// able has handlers for the tasks "good" and "bad"; it reports jobs of "good".
func (q *fixture) able(cfg executor.Config) (*newExecutor, <-chan string) {
	runs := make(chan string, 1000)
	return q.executor(cfg, map[string]jobqueue.Handler{
		"good": func(_ context.Context, job *jobqueue.JobContext) error { runs <- job.JID; return nil },
		"bad":  nothing,
	}), runs
}

// refused counts the events that name a job which the database refuses.
func refused(jid string) func(executor.Event) bool {
	return func(e executor.Event) bool {
		return e.Kind == executor.EventRefused && (e.Job.JID == jid || strings.Contains(e.Err.Error(), jid))
	}
}

// badJobs are twelve jobs, the oldest of the queue, with submitters that take turns.
func (q *fixture) badJobs(submitters ...string) (jids []string) {
	q.Helper()
	for i := range 12 {
		job := jobqueue.Job{Task: "bad", Subject: "bad"}
		if len(submitters) > 0 {
			job.Submitter = submitters[i%len(submitters)]
		}
		jids = append(jids, q.submit(job)...)
	}
	return jids
}

// trigger makes one that fires before jobs with the subject "bad" are updated.
func (q *fixture) trigger(when, onPostgres, onSQLite string) (remove func()) {
	q.Helper()
	return q.Trigger("job", "UPDATE", "OLD.subject = 'bad' AND "+when, onPostgres, onSQLite)
}

// What a trigger of the user's does as a job begins or ends concerns that job alone: it may raise any code, such as one
// that asks a remote server which is down, or put the job back. The job is named once, and goes on as soon as it can.
func TestJobsThatTheDatabaseRefusesHoldUpNoOther(t *testing.T) {
	const begins, ends = "NEW.state = 'running'", "NEW.state = 'success'"
	codes, states := []string{"40001", "08001", "25006", "53100"}, []string{"waiting", "scheduled", "stuck"}
	for name, c := range map[string]struct {
		when, postgres, sqlite string // on SQLite: empty, as its triggers raise constant texts only
		submitters             []string
	}{
		"begins, refused alike":   {begins, "RAISE EXCEPTION 'no'", "SELECT raise(ABORT, 'no')", nil},
		"begins, refused by name": {begins, "RAISE EXCEPTION 'no %', NEW.jid", "", nil},
		"begins, unknown error":   {begins, "RAISE 'no' USING ERRCODE = 'XX123'", "SELECT raise(ROLLBACK, 'no')", nil},
		"begins, any code":        {begins, "RAISE EXCEPTION 'no' USING ERRCODE = OLD.submitter", "", codes},
		"begins, suppressed":      {begins, "RETURN NULL", "SELECT raise(IGNORE)", nil},
		"begins, put back":        {begins, "NEW.state := OLD.submitter; NEW.worker := NULL; RETURN NEW", "", states},
		"ends, refused alike":     {ends, "RAISE EXCEPTION 'no'", "SELECT raise(ABORT, 'no')", nil},
		"ends, any code":          {ends, "RAISE EXCEPTION 'no' USING ERRCODE = OLD.submitter", "", codes},
	} {
		t.Run(name, func(t *testing.T) {
			on := onBoth
			if c.sqlite == "" {
				on = onPostgres
			}
			on(t, func(t *testing.T, q *fixture) {
				remove := q.trigger(c.when, c.postgres, c.sqlite)
				bad := q.badJobs(c.submitters...)
				// Nothing waits for a poll, also if all bad jobs do not fit into one claim.
				e, runs := q.able(executor.Config{PoolSize: 2, PollInterval: time.Hour})
				e.start()
				q.punctual(runs)
				for _, jid := range bad {
					e.await(1, "that name "+jid, refused(jid))
					if n := e.count(refused(jid)); n != 1 {
						t.Errorf("job %s was named %d times", jid, n)
					}
				}
				if n := e.count(func(e executor.Event) bool { return e.Kind == executor.EventBegun && slices.Contains(bad, e.Job.JID) }); c.when == begins && n > 0 {
					t.Errorf("%d jobs ran", n)
				}
				remove()
				q.sql("UPDATE job SET state = 'waiting', retry = NULL WHERE subject = 'bad' AND state IN ('scheduled', 'stuck')")
				for _, jid := range bad {
					e.awaitEnd(jid, jobqueue.Success)
				}
				if n := e.count(kind(executor.EventLost)); n != 0 {
					t.Errorf("%d jobs were lost", n)
				}
			})
		})
	}
}

func TestJobsThatCannotBeTakenBackHoldUpNoOther(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		remove := q.trigger("NEW.state = 'waiting'", "RAISE EXCEPTION 'no'", "SELECT raise(ABORT, 'no')")
		dead := func(subject, set string) string {
			jid := q.submit(jobqueue.Job{Task: "good", Subject: subject})[0]
			q.sql("UPDATE job SET %s WHERE jid = '%s'", set, jid)
			return jid
		}
		q.beats(worker, 1)
		const old = "state = 'running', worker = '" + worker + "'"
		var bad []string
		for range 10 {
			bad = append(bad, dead("bad", old))
		}
		limit := dead("limit", old+", interrupts = 2147483647")
		good := []string{
			dead("", old),
			dead("", "state = 'stuck', worker = 'me@000000000001', retry = "+utc(time.Now().Add(-time.Hour))),
		}
		e, runs := q.able(executor.Config{PollInterval: 300 * time.Millisecond})
		e.hastened().start()
		for _, jid := range good {
			e.awaitEnd(jid, jobqueue.Success)
			receive(q, runs, "a job that was rescued")
		}
		q.punctual(runs)
		for _, jid := range bad {
			if n := e.count(refused(jid)); n != 1 {
				t.Errorf("job %s was named %d times", jid, n)
			}
		}
		if state := q.get(limit).State; state != jobqueue.Failed {
			t.Errorf("the job with too many interrupts is %s", state)
		}
		remove()
		for _, jid := range bad {
			e.awaitEnd(jid, jobqueue.Success)
		}
	})
}

// Locks on rows hold up the others for a moment only.
func TestLocksHoldUpNoOther(t *testing.T) {
	onPostgres(t, func(t *testing.T, q *fixture) {
		began, release := make(chan string, 10), make(chan struct{})
		runs := make(chan string, 100)
		e := q.run(executor.Config{PoolSize: 20}, map[string]jobqueue.Handler{
			"bad":  func(_ context.Context, job *jobqueue.JobContext) error { began <- job.JID; <-release; return nil },
			"good": func(_ context.Context, job *jobqueue.JobContext) error { runs <- job.JID; return nil },
		})
		bad := q.badJobs()
		for range bad {
			receive(q, began, "a job")
		}
		tx := q.Hold("SELECT 1 FROM job WHERE subject = 'bad' FOR UPDATE")
		close(release)
		q.punctual(runs)
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		for _, jid := range bad {
			e.awaitEnd(jid, jobqueue.Success)
		}
	})
}

// Jobs end although somebody has locked the rows of their tasks, also those that fail.
func TestLockedTasksHoldUpNoEnd(t *testing.T) {
	onPostgres(t, func(t *testing.T, q *fixture) {
		q.sql("INSERT INTO periodic_task (id, task, timer, pause_after) SELECT 't' || n, 'fails', 'yearly', 1 FROM generate_series(1, 20) AS n")
		q.sql("INSERT INTO job (jid, task, tracker, due) SELECT id, task, id, '2026-01-01' FROM periodic_task WHERE task = 'fails'")
		q.sql("INSERT INTO periodic_tick (task_id, due, decision, jid, decided) SELECT tracker, due, 'submitted', jid, due FROM job WHERE tracker IS NOT NULL")
		tx := q.Hold("SELECT 1 FROM periodic_task FOR UPDATE")
		runs := make(chan string, 100)
		e := q.run(executor.Config{PoolSize: 5, RetryLimit: executor.Never}, map[string]jobqueue.Handler{
			"fails": func(context.Context, *jobqueue.JobContext) error { return errors.New("no") },
			"good":  func(_ context.Context, job *jobqueue.JobContext) error { runs <- job.JID; return nil },
		})
		e.await(20, "of failure", ended(jobqueue.Failed))
		q.punctual(runs)
		if n := e.count(kind(executor.EventRefused)) + e.count(kind(executor.EventTrouble)); n != 0 {
			t.Errorf("%d jobs were refused, or the database had trouble", n)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	})
}

// Waiting rows that somebody has locked do not hide the groups behind them.
func TestLockedGroupsHideNoOther(t *testing.T) {
	onPostgres(t, func(t *testing.T, q *fixture) {
		for i := range 10 {
			q.submit(jobqueue.Job{Task: "t", Group: fmt.Sprintf("a%d", i)})
		}
		q.Hold("SELECT 1 FROM job FOR UPDATE")
		good := q.submit(jobqueue.Job{Task: "t", Group: "b"})[0]
		e := q.run(executor.Config{PoolSize: 1}, map[string]jobqueue.Handler{"t": nothing})
		e.awaitEnd(good, jobqueue.Success)
	})
}

// In a table that nextrun has found, SQLite's columns take any value; jobs with nonsense run as others do, and can be
// listed.
func TestNonsenseInARowHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	q := newFixture(migrated.New(t, storetest.SQLite))
	q.sql("DROP TRIGGER nextrun_job_refuse_edited; DROP TRIGGER nextrun_job_refuse_moved")
	var jids []string
	for _, set := range []string{
		"submitted = '2026-01-01T00:00:00'", "submitted = 'yesterday'", "submitted = 1700000000", "priority = 'high'", "priority = 10.5",
		"priority = 9223372036854775807", "retries = 'many'", "due = 'soon'", "single = 'yes'", "args = x'00ff'", "group_ = 'g' || char(0)",
	} {
		bad, good := q.submit(jobqueue.Job{Task: "t"})[0], q.submit(jobqueue.Job{Task: "t"})[0]
		q.sql("UPDATE job SET %s WHERE jid = '%s'", set, bad)
		t.Logf("%s: %s", bad, set)
		jids = append(jids, bad, good)
	}
	e := q.run(executor.Config{}, map[string]jobqueue.Handler{"t": nothing})
	for _, jid := range jids {
		e.awaitEnd(jid, jobqueue.Success)
	}
	if jobs, err := q.queue.List(q.ctx, jobqueue.Filter{}); err != nil || len(jobs) != len(jids) {
		t.Errorf("%d jobs are listed, %v", len(jobs), err)
	}
}
