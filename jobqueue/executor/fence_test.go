package executor_test

import (
	"context"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

const worker = "me@000000000001"

// beats has a worker that does not live.
func (q *fixture) beats(id string, beat int) {
	q.Helper()
	q.sql("DELETE FROM worker WHERE id = '%s'", id)
	q.sql("INSERT INTO worker (id, kind, version, started, beat, seen) VALUES ('%s', 'executor', 'v', %[3]s, %[2]d, %[3]s)", id, beat, utc(time.Now()))
}

// claimed has worker claim a new job.
func (q *fixture) claimed() (jid string) {
	q.Helper()
	jid = q.submit(jobqueue.Job{Task: "t"})[0]
	claim := exchange.Claim{Limit: 1, Tasks: []string{"t"}, Name: "me", High: 3, Low: 1}
	if _, err := q.store.Sync(q.ctx, exchange.Request{Worker: worker, Claim: claim}); err != nil {
		q.Fatal(err)
	}
	return jid
}

// inState brings a new job to a state under worker.
func (q *fixture) inState(state jobqueue.State) string {
	q.Helper()
	jid := q.claimed()
	q.sql("UPDATE job SET state = '%s' WHERE jid = '%s'", state, jid)
	q.sql("DELETE FROM joblog WHERE jid = '%s'", jid)
	if job := q.get(jid); job.State != state {
		q.Fatalf("the job is %s, want %s", job.State, state)
	}
	return jid
}

func TestEveryTransitionIsFenced(t *testing.T) {
	transitions := map[string]struct{ from, to jobqueue.State }{
		"return":  {jobqueue.Scheduled, jobqueue.Waiting},
		"succeed": {jobqueue.Running, jobqueue.Success},
		"fail":    {jobqueue.Running, jobqueue.Failed},
		"cancel":  {jobqueue.Running, jobqueue.Cancelled},
		"stick":   {jobqueue.Running, jobqueue.Stuck},
		"release": {jobqueue.Running, jobqueue.Waiting},
		"rescue":  {jobqueue.Running, jobqueue.Waiting},
	}
	thefts := map[string]string{
		"another worker has it":   "UPDATE job SET worker = 'other@000000000001' WHERE jid = '%s'",
		"another boot has it":     "UPDATE job SET worker = 'me@000000000002' WHERE jid = '%s'",
		"it waits again":          "UPDATE job SET state = 'waiting', worker = NULL WHERE jid = '%s'",
		"it is in another state":  "UPDATE job SET state = CASE state WHEN 'running' THEN 'scheduled' ELSE 'running' END WHERE jid = '%s'",
		"it is final":             "UPDATE job SET state = 'success' WHERE jid = '%s'",
		"it has an unknown state": "UPDATE job SET state = 'dreaming' WHERE jid = '%s'",
	}
	request := func(name, jid string) exchange.Request {
		tr := transitions[name]
		line := exchange.Line{ID: jid, JID: jid, Level: "info", Message: "x"}
		by := exchange.Transition{JID: jid, Worker: worker, From: tr.from, To: tr.to, Delay: 1, Interrupted: true, Lines: []exchange.Line{line}}
		if name == "rescue" {
			by.Dead, by.Beat = true, 3
		}
		return exchange.Request{Worker: "other@000000000002", Transitions: []exchange.Transition{by}}
	}
	onBoth(t, func(t *testing.T, q *fixture) {
		q.beats(worker, 3)
		for name, tr := range transitions {
			jid := q.inState(tr.from)
			if _, err := q.store.Sync(q.ctx, request(name, jid)); err != nil {
				t.Fatal(err)
			}
			if job := q.get(jid); job.State != tr.to {
				t.Errorf("%s: the job is %s, want %s", name, job.State, tr.to)
			}
			q.sql("DELETE FROM joblog WHERE jid = '%s'", jid)
			q.sql("DELETE FROM job WHERE jid = '%s'", jid)
			for theft, statement := range thefts {
				jid := q.inState(tr.from)
				q.sql(statement, jid)
				before := q.get(jid)
				result, err := q.store.Sync(q.ctx, request(name, jid))
				if err != nil {
					t.Fatal(err)
				}
				if after := q.get(jid); after != before {
					t.Errorf("%s although %s: %+v became %+v", name, theft, before, after)
				}
				if len(result.Missed) != 1 || result.Missed[0].JID != jid {
					t.Errorf("%s although %s: result %+v", name, theft, result)
				}
				if log := q.log(jid); len(log) > 0 {
					t.Errorf("%s although %s: log %q", name, theft, log)
				}
				q.sql("DELETE FROM job WHERE jid = '%s'", jid)
			}
		}
	})
}

// A worker that is taken for dead, and has beaten since, keeps its job; so does one whose row somebody holds.
func TestJobOfALivingWorkerIsNotTakenBack(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		jid := q.inState(jobqueue.Running)
		before := q.get(jid)
		rescue := func(beat int64) {
			t.Helper()
			result, err := q.store.Sync(q.ctx, exchange.Request{Worker: "other@000000000002", Transitions: []exchange.Transition{
				{JID: jid, Worker: worker, From: jobqueue.Running, To: jobqueue.Waiting, Dead: true, Beat: beat},
			}})
			if err != nil || len(result.Missed) != 1 || q.get(jid) != before {
				t.Errorf("result %+v, %v; the job is %+v", result, err, q.get(jid))
			}
		}
		q.beats(worker, 8)
		rescue(7)  // it has beaten
		rescue(-1) // its row was gone, and is back
		if q.Kind == storetest.Postgres {
			q.Hold("SELECT 1 FROM worker FOR UPDATE")
			rescue(8)
		}
	})
}

// A waiting job that somebody asked to cancel by SQL is cancelled, not begun.
func TestCancelledJobDoesNotBegin(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		jid := q.submit(jobqueue.Job{Task: "t"})[0]
		q.sql("UPDATE job SET cancel = submitted WHERE jid = '%s'", jid)
		e := q.run(executor.Config{}, map[string]jobqueue.Handler{
			"t": func(context.Context, *jobqueue.JobContext) error { t.Error("it ran"); return nil },
		})
		e.awaitEnd(jid, jobqueue.Cancelled)
		if job := q.get(jid); job.State != jobqueue.Cancelled || job.Finished.IsZero() || len(q.log(jid)) != 0 {
			t.Errorf("%+v, log %q", job, q.log(jid))
		}
	})
}
