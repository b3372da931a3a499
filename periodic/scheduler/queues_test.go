package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

// What a queue refuses for good costs that tick only; what may pass costs none.
func TestQueueRefuses(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		for _, id := range []string{"good", "never", "later"} {
			f.addAcme(id, "skip")
		}
		q.refuse["never"] = sink.Submission{Refused: "the kind never is unknown"}
		q.refuse["later"] = sink.Submission{Refused: "the queue is full", Passing: true}
		f.plan(q)
		for _, id := range []string{"good", "never", "later"} {
			f.due(id, time.Second)
		}
		f.start(f.db.Periodic(), withAcme(q))
		f.soon(1, acmeJobs, "good")
		f.soon("skipped", decision, "never")
		f.want("the kind never is unknown", reason, "never")
		f.want("the kind never is unknown", "SELECT problem FROM periodic_task WHERE id = 'never'")
		f.soon(1, "SELECT count(*) FROM periodic_task WHERE id = 'later' AND problem LIKE '%the queue is full%'")
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = 'later'")
		q.set(func() { delete(q.refuse, "later") })
		f.soon(1, acmeJobs, "later")
		f.want(1, "SELECT count(*) FROM periodic_tick WHERE task_id = 'later' AND decision = 'submitted'")
		f.want("", "SELECT problem FROM periodic_task WHERE id = 'later'")
	})
}

// Errors and panics of a queue's code are those of a task: others go on, and no
// tick is lost.
func TestQueuePanics(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		for _, id := range []string{"good", "panics", "errs"} {
			f.addAcme(id, "skip")
		}
		f.exec("INSERT INTO periodic_task (id, task, timer) VALUES ('own', 'own', 'yearly')")
		q.submit = func(j jobqueue.Job) error {
			switch j.Task {
			case "panics":
				panic("oh no")
			case "errs":
				return errors.New("out of paper")
			}
			return nil
		}
		f.plan(q)
		for _, id := range []string{"good", "panics", "errs", "own"} {
			f.due(id, time.Second)
		}
		f.start(f.db.Periodic(), withAcme(q))
		f.soon(1, acmeJobs, "good")
		f.soon(1, "SELECT count(*) FROM job WHERE tracker = 'own'")
		for id, want := range map[string]string{"panics": "panicked in ", "errs": "out of paper"} {
			f.soon(1, "SELECT count(*) FROM periodic_task WHERE id = ? AND problem LIKE '%"+want+"%'", id)
			f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = ?", id)
		}
		q.set(func() { q.submit = nil })
		f.soon(1, acmeJobs, "panics")
		f.soon(1, acmeJobs, "errs")
	})
}

// A scheduler leaves the tasks of a queue that it does not know to others, and says
// so in the row if there is nobody.
func TestQueueIsUnknown(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.planned(q, "skip")
		f.tick("a", 11)
		f.want(0, "SELECT count(*) FROM periodic_tick")
		if got := f.one("SELECT problem FROM periodic_task"); !strings.Contains(got, `sink "acme"`) {
			f.Errorf("the problem is %q", got)
		}
		f.addAcme("b", "skip") // it is planned by whoever comes first
		f.once()
		if got := f.one("SELECT problem FROM periodic_task WHERE id = 'b' AND due IS NOT NULL"); !strings.Contains(got, `sink "acme"`) {
			f.Errorf("the problem of a new row is %q", got)
		}
		f.once(withAcme(q))
		f.want("submitted", decision, "a")
		f.want("", "SELECT problem FROM periodic_task WHERE id = 'a'")
	})
}

// acmeProber is an acme that says when it cannot be used.
type acmeProber struct{ *acme }

func (q acmeProber) Probe(context.Context, jobqueue.DBTX) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.broken
}

// While a queue cannot be used at all, its tasks say why, no tick of theirs is
// lost, and the tasks of other queues go on. Later they are as before.
func TestQueueCannotBeUsed(t *testing.T) {
	both(t, func(f *fixture) {
		q := acmeProber{f.acme()}
		f.addAcme("a", "skip")
		f.exec("INSERT INTO periodic_task (id, task, timer) VALUES ('own', 'own', 'yearly')")
		f.plan(q)
		q.set(func() {
			q.broken = errors.New("the table acme_job is of version 1")
			q.submit = func(jobqueue.Job) error { return q.broken }
		})
		f.due("a", 11*time.Second)
		f.due("own", time.Second)
		f.start(f.db.Periodic(), withAcme(q))
		f.soon(1, "SELECT count(*) FROM periodic_task WHERE id = 'a' AND problem LIKE '%is of version 1%'")
		f.soon(1, "SELECT count(*) FROM job WHERE tracker = 'own'")
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = 'a'")
		q.set(func() { q.broken, q.submit = nil, nil })
		f.soon(1, acmeJobs, "a")
		f.want("", "SELECT problem FROM periodic_task WHERE id = 'a'")
		f.guarantees()
	})
}

// slowQueue is an acme whose first call does not end before its context does.
type slowQueue struct {
	*acme
	calls [][]string // the ids of the jobs
}

func (q *slowQueue) Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) ([]sink.Submission, error) {
	var ids []string
	for _, job := range jobs {
		ids = append(ids, job.JID)
	}
	first := false
	q.set(func() {
		q.calls = append(q.calls, ids)
		first = len(q.calls) == 1
	})
	if first {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return q.acme.Submit(ctx, tx, jobs)
}

// A queue that takes too long is told so before the server ends its transaction, and the ticks are
// tried again, with the same ids.
func TestQueueHasLimitedTime(t *testing.T) {
	f := newPostgresFixture(t)
	f.db = f.opened(store.Options{IdleTimeout: 4 * time.Second})
	q := &slowQueue{acme: f.acme()}
	f.exec(`INSERT INTO periodic_task (id, task, timer, sink) SELECT 'a' || i, 'send', 'yearly', 'acme' FROM generate_series(1, 150) AS i`)
	f.plan(q)
	at := f.at(-time.Minute)
	f.exec("UPDATE periodic_task SET due = ?, nextrun = ?, timer = ?", at, at, "*"+at[4:])
	f.once(withAcme(q))
	f.want(150, `SELECT count(*) FROM periodic_tick AS t JOIN acme_job AS q ON q.ref = 'acme-' || t.jid WHERE decision = 'submitted'`)
	later := slices.Concat(q.calls[1:]...)
	for _, call := range q.calls {
		if len(call) > 100 {
			t.Errorf("a call has %d jobs", len(call))
		}
	}
	for _, id := range q.calls[0] {
		if !slices.Contains(later, id) {
			t.Errorf("the job %s has another id when its tick is tried again", id)
		}
	}
}

// A task moves to the table job and back under programs that do not know the other queue.
func TestQueueMovesWithoutItsConfiguration(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.planned(q, "queue")
		f.tick("a", 5, withAcme(q))
		f.exec("UPDATE acme_job SET state = 'done'")
		f.exec("UPDATE periodic_task SET sink = 'job' WHERE id = 'a'")
		f.due("a", 4*time.Second)
		f.ends()
		f.want(1, "SELECT count(*) FROM job")
		f.due("a", 3*time.Second)
		f.ends()
		f.exec("UPDATE job SET state = 'success'")
		f.ends()
		if f.one(decision, "a") != "submitted" {
			f.Error("the tick waits although the job before it has ended")
		}
		f.due("a", 2*time.Second)
		f.ends() // J2 waiting in job
		f.exec("UPDATE periodic_task SET sink = 'acme' WHERE id = 'a'")
		f.due("a", time.Second)
		f.ends(withAcme(q))
		f.want(1, "SELECT (SELECT count(*) FROM job WHERE state = 'waiting') + (SELECT count(*) FROM acme_job WHERE state = 'new')")
	})
}

// A job of the time before the policy allowed several still counts afterwards.
func TestQueueAllowInBetween(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.planned(q, "skip")
		f.tick("a", 5, withAcme(q))
		f.exec("UPDATE acme_job SET state = 'busy'")
		f.exec("UPDATE periodic_task SET overlap = 'allow' WHERE id = 'a'")
		f.tick("a", 4, withAcme(q))
		f.exec("UPDATE acme_job SET state = 'done' WHERE state = 'new'")
		f.exec("UPDATE periodic_task SET overlap = 'skip' WHERE id = 'a'")
		f.tick("a", 3, withAcme(q))
		f.want(1, "SELECT count(*) FROM acme_job WHERE tracker = 'a' AND state IN ('busy','new')")
	})
}

// A queue that cannot be asked about its jobs is reported once, not for each of them.
func TestQueueThatCannotBeAskedIsQuiet(t *testing.T) {
	bubble(t, func(f *fixture) {
		q := f.acme()
		f.exec(`INSERT INTO periodic_task (id, task, timer, overlap, sink) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
			SELECT 'a' || i, 'a', 'yearly', 'queue', 'acme' FROM n`)
		f.plan(q)
		f.exec(`INSERT INTO periodic_open (task_id, sink, ref, jid, due, submitted, look)
			SELECT id, 'acme', 'acme-x', 'jid' || id, '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000' FROM periodic_task`)
		f.exec(`INSERT INTO acme_job VALUES ('acme-x', 'a', '', 'a', 'busy')`)
		f.exec("UPDATE periodic_task SET nextrun = '1999-01-02 00:00:00.000000', due = '1999-01-02 00:00:00.000000'")
		q.broken = errors.New("broken")
		n := 0
		s, _ := f.start(f.db.Periodic(), withAcme(acmeProber{q}), func(c *scheduler.Config) {
			c.Observe = func(e scheduler.Event) {
				if e.Kind == scheduler.EventError || e.Kind == scheduler.EventSink && e.Err != nil {
					n++
				}
			}
		})
		pass(2 * time.Second)
		f.stop(s)
		if n == 0 || n > 20 {
			f.Errorf("%d errors in two seconds", n)
		}
	})
}

// A tick that waits for a job in the queue of somebody else is not overdue, however long that job takes.
func TestQueueHoldsATaskThatIsNotOverdue(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.planned(q, "queue")
		f.tick("a", 120, withAcme(q))
		f.tick("a", 60, withAcme(q))
		f.want(1, acmeJobs, "a")
		f.exec("UPDATE periodic_task SET since = ?", f.at(-time.Hour))
		f.want("", "SELECT overdue FROM periodic_health")
		overdue, err := periodic.NewTasks(f.db.Tasks()).List(f.Context(), periodic.TaskFilter{State: periodic.TaskOverdue})
		if f.done(err); len(overdue) > 0 {
			f.Error("the task is listed as overdue")
		}
		f.exec("UPDATE periodic_open SET ended = submitted")
		f.want(1, "SELECT count(*) FROM periodic_health WHERE overdue IS NOT NULL")
	})
}
