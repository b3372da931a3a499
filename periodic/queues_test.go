package periodic_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/store/storetest"
)

// acme is a queue of somebody else: the table acme_job.
type acme struct {
	mu     sync.Mutex
	refuse map[string]backend.Submission // by the job's task
	submit func(jobqueue.Job) error
	broken error // of Pending
}

func (q *acme) set(change func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	change()
}

func (q *acme) Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) ([]backend.Submission, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var done []backend.Submission
	for _, j := range jobs {
		if r, ok := q.refuse[j.Task]; ok {
			r.JID = j.JID
			done = append(done, r)
			continue
		}
		if q.submit != nil {
			if err := q.submit(j); err != nil {
				return nil, err
			}
		}
		ref := "acme-" + j.JID
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO acme_job (ref, task, args, tracker, state) VALUES ('%s', '%s', '%s', '%s', 'new')`,
			ref, j.Task, strings.ReplaceAll(j.Args, "'", "''"), j.Tracker))
		if err != nil {
			return nil, err
		}
		done = append(done, backend.Submission{JID: j.JID, Ref: ref})
	}
	return done, nil
}

func (q *acme) Pending(ctx context.Context, tx jobqueue.DBTX, open []backend.Open) ([]periodic.Pending, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.broken != nil {
		return nil, q.broken
	}
	var list []periodic.Pending
	for _, o := range open {
		var state string
		err := tx.QueryRowContext(ctx, fmt.Sprintf(`SELECT coalesce(max(state), 'gone') FROM acme_job WHERE ref = '%s'`, o.Ref)).Scan(&state)
		switch {
		case err != nil:
			return nil, err
		case state == "new":
			list = append(list, periodic.Pending{JID: o.JID, State: jobqueue.Waiting})
		case state == "busy":
			list = append(list, periodic.Pending{JID: o.JID, State: jobqueue.Running})
		}
	}
	return list, nil
}

// acmeCanceller is an acme whose waiting jobs can be cancelled.
type acmeCanceller struct{ *acme }

func (q acmeCanceller) Cancel(ctx context.Context, tx jobqueue.DBTX, open []backend.Open, _ time.Time) (done []string, err error) {
	for _, o := range open {
		result, err := tx.ExecContext(ctx, fmt.Sprintf(`UPDATE acme_job SET state = 'cancelled' WHERE ref = '%s' AND state = 'new'`, o.Ref))
		if err != nil {
			return nil, err
		}
		if n, _ := result.RowsAffected(); n == 1 {
			done = append(done, o.JID)
		}
	}
	return done, nil
}

func withAcme(q periodic.Submitter) func(*periodic.Config) {
	return func(c *periodic.Config) { c.Submitters = map[periodic.Sink]periodic.Submitter{"acme": q} }
}

func (f *fixture) acme() *acme {
	f.exec("CREATE TABLE acme_job (ref varchar(254) PRIMARY KEY, task varchar(254), args text, tracker varchar(254), state varchar(20))")
	return &acme{refuse: map[string]backend.Submission{}}
}

// addAcme adds a task for that queue that is due.
func (f *fixture) addAcme(id, overlap string) {
	f.exec("INSERT INTO periodic_task (id, task, timer, sink, overlap, args) VALUES (?, ?, 'yearly', 'acme', ?, ?)", id, id, overlap, `{"n":"`+id+`"}`)
}

func (f *fixture) plan(q periodic.Submitter) { f.once(withAcme(q)) }

const (
	acmeJobs = "SELECT count(*) FROM acme_job WHERE tracker = ?"
	decision = "SELECT decision FROM periodic_tick WHERE task_id = ? ORDER BY due DESC LIMIT 1"
	reason   = "SELECT reason FROM periodic_tick WHERE task_id = ? ORDER BY due DESC LIMIT 1"
)

// Jobs of a task go to the queue that its sink names, with their args, and nothing
// goes into the table job.
func TestQueueGetsTheJobs(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		for _, overlap := range []string{"skip", "queue", "replace", "allow"} {
			f.addAcme(overlap, overlap)
		}
		f.plan(q)
		for _, overlap := range []string{"skip", "queue", "replace", "allow"} {
			f.due(overlap, time.Second)
		}
		f.once(withAcme(q))
		f.want(4, "SELECT count(*) FROM acme_job WHERE args = '{\"n\":\"' || tracker || '\"}'")
		f.want(0, "SELECT count(*) FROM job")
		f.want(4, "SELECT count(*) FROM periodic_tick AS k JOIN periodic_open AS o ON o.task_id = k.task_id AND o.jid = k.jid AND o.due = k.due AND o.ref = 'acme-' || k.jid WHERE decision = 'submitted' AND o.sink = 'acme'")
	})
}

// While a job is not final the policies decide, on a queue that has no column for
// the task.
func TestQueueOverlap(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		for _, c := range []struct{ overlap, state, decision, jobs string }{
			{"skip", "busy", "skipped", "1"}, {"queue", "new", "queued", "1"}, {"allow", "busy", "submitted", "2"},
			{"replace", "busy", "queued", "1"}, {"skip", "done", "submitted", "2"}, {"queue", "done", "submitted", "2"},
		} {
			id := c.overlap + "-" + c.state
			f.addAcme(id, c.overlap)
			f.plan(q)
			f.due(id, 2*time.Second)
			f.once(withAcme(q))
			f.exec("UPDATE acme_job SET state = ? WHERE tracker = ?", c.state, id)
			f.due(id, time.Second)
			f.once(withAcme(q))
			f.want(c.decision, decision, id)
			f.want(c.jobs, acmeJobs, id)
		}
		if got := f.one(reason, "skip-busy"); !strings.Contains(got, "is still running") {
			t.Errorf("reason %q", got)
		}
		f.want(0, "SELECT count(*) FROM periodic_task WHERE id = 'skip-busy' AND problem IS NOT NULL")
		if got := f.one("SELECT problem FROM periodic_task WHERE id = 'replace-busy'"); !strings.Contains(got, "cannot cancel") {
			t.Errorf("a queue that cannot cancel gives the problem %q", got)
		}
	})
}

// replace cancels a waiting job where the queue permits that, and waits for a
// running one.
func TestQueueReplaces(t *testing.T) {
	both(t, func(f *fixture) {
		q := acmeCanceller{f.acme()}
		f.addAcme("a", "replace")
		f.plan(q)
		f.due("a", 3*time.Second)
		f.once(withAcme(q))
		f.due("a", 2*time.Second)
		f.once(withAcme(q))
		f.want(1, "SELECT count(*) FROM acme_job WHERE state = 'cancelled'")
		f.want(1, "SELECT count(*) FROM acme_job WHERE state = 'new'")
		f.want(0, "SELECT count(*) FROM periodic_task WHERE problem IS NOT NULL")
		f.exec("UPDATE acme_job SET state = 'busy' WHERE state = 'new'")
		f.due("a", time.Second)
		f.once(withAcme(q))
		f.want("queued", decision, "a")
		f.exec("UPDATE acme_job SET state = 'new' WHERE state = 'busy'") // it failed, and is to be retried
		f.start(withSubmitter(f.config("follows"), q))
		storetest.Eventually(f, "the queued tick is submitted", func() bool { return f.one(decision, "a") == "submitted" })
		f.want(2, "SELECT count(*) FROM acme_job WHERE state = 'cancelled'")
	})
}

func withSubmitter(cfg periodic.Config, q periodic.Submitter) periodic.Config {
	withAcme(q)(&cfg)
	return cfg
}

// A queued tick goes when the job before it has ended, although the queue does not
// tell, and a scheduler that was not there when the tick was queued sees to it.
func TestQueueWaitEnds(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.addAcme("a", "queue")
		f.plan(q)
		f.due("a", 2*time.Second)
		f.once(withAcme(q))
		f.due("a", time.Second)
		f.once(withAcme(q))
		f.want("queued", decision, "a")
		f.start(withSubmitter(f.config("later"), q))
		f.exec("UPDATE acme_job SET state = 'done'")
		storetest.Eventually(f, "the queued tick is submitted", func() bool { return f.one(decision, "a") == "submitted" })
		f.want(2, acmeJobs, "a")
		f.guarantees()
	})
}

// To delete the row of periodic_open, as a trigger of the other table does, ends the
// wait at once.
func TestQueueWaitEndsByDelete(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.addAcme("a", "queue")
		f.plan(q)
		f.due("a", 2*time.Second)
		f.once(withAcme(q))
		f.due("a", time.Second)
		f.once(withAcme(q))
		f.exec("UPDATE acme_job SET state = 'done'")
		f.exec("DELETE FROM periodic_open WHERE sink = 'acme'")
		q.set(func() { q.broken = errors.New("nobody has to ask") })
		defer q.set(func() { q.broken = nil })
		f.want(1, "SELECT count(*) FROM periodic_ready WHERE task_id = 'a'")
	})
}

// Nobody claims the task of a queued tick while its job is not final.
func TestQueueWaitIsQuiet(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.addAcme("a", "queue")
		f.plan(q)
		f.due("a", 2*time.Second)
		f.once(withAcme(q))
		f.due("a", time.Second)
		f.once(withAcme(q))
		batches := 0
		f.once(withAcme(q), func(c *periodic.Config) {
			c.Observe = func(e periodic.Event) {
				if e.Kind == periodic.EventBatch {
					batches++
				}
			}
		})
		if batches != 0 {
			t.Errorf("%d batches for a tick that waits", batches)
		}
	})
}

// A task that moves from one queue to another has no two jobs that are not final.
func TestQueueChanges(t *testing.T) {
	both(t, func(f *fixture) {
		q := f.acme()
		f.addAcme("a", "skip")
		f.plan(q)
		for _, sink := range []string{"acme", "job", "acme"} {
			f.exec("UPDATE periodic_task SET sink = ?", sink)
			f.due("a", time.Second)
			f.once(withAcme(q))
		}
		f.want(1, acmeJobs, "a")
		f.want(0, "SELECT count(*) FROM job")
		f.exec("UPDATE acme_job SET state = 'done'")
		f.exec("UPDATE periodic_task SET sink = 'job'")
		for range 2 {
			f.due("a", time.Second)
			f.once(withAcme(q))
			f.exec("UPDATE periodic_task SET sink = 'acme'")
		}
		f.want(1, "SELECT count(*) FROM job")
		f.want(1, acmeJobs, "a")
	})
}
