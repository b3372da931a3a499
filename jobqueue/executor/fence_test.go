package executor_test

import (
	"context"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

const worker = "me/1"

// claimed has worker claim a new job.
func (q *fixture) claimed() (jid string) {
	q.Helper()
	jid = q.submit(jobqueue.Job{Task: "t"})[0]
	claim := jobdb.Claim{Limit: 1, Tasks: []string{"t"}, Name: "me", High: 3, Low: 1}
	if _, err := q.store.Sync(q.ctx, jobdb.Request{Worker: worker, Claim: claim}); err != nil {
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
		"another worker has it":   "UPDATE job SET worker = 'other/1' WHERE jid = '%s'",
		"another boot has it":     "UPDATE job SET worker = 'me/2' WHERE jid = '%s'",
		"it waits again":          "UPDATE job SET state = 'waiting', worker = NULL WHERE jid = '%s'",
		"it is in another state":  "UPDATE job SET state = CASE state WHEN 'running' THEN 'scheduled' ELSE 'running' END WHERE jid = '%s'",
		"it is final":             "UPDATE job SET state = 'success' WHERE jid = '%s'",
		"it has an unknown state": "UPDATE job SET state = 'dreaming' WHERE jid = '%s'",
		"it has no heartbeat":     "UPDATE job SET heartbeat = NULL WHERE jid = '%s'",
	}
	request := func(name, jid string) jobdb.Request {
		tr := transitions[name]
		line := jobdb.Line{ID: jid, JID: jid, Level: "info", Message: "x"}
		by := jobdb.Transition{JID: jid, Worker: worker, From: tr.from, To: tr.to, Delay: 1, Interrupted: true, Lines: []jobdb.Line{line}}
		if name == "rescue" {
			by.Lease = time.Minute
		}
		return jobdb.Request{Worker: "other/2", Transitions: []jobdb.Transition{by}}
	}
	onBoth(t, func(t *testing.T, q *fixture) {
		for name, tr := range transitions {
			jid := q.inState(tr.from)
			if name == "rescue" {
				q.age(jid, time.Hour)
			}
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
				if name == "rescue" {
					q.age(jid, time.Hour)
				}
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

func TestJobWhoseHeartbeatIsYoungIsNotTakenBack(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		jid := q.inState(jobqueue.Running)
		q.age(jid, 20*time.Second)
		before := q.get(jid)
		result, err := q.store.Sync(q.ctx, jobdb.Request{Worker: "other/2", Transitions: []jobdb.Transition{
			{JID: jid, Worker: worker, From: jobqueue.Running, To: jobqueue.Waiting, Lease: 30 * time.Second},
		}})
		if err != nil || len(result.Missed) != 1 || q.get(jid) != before {
			t.Errorf("result %+v, %v; the job is %+v", result, err, q.get(jid))
		}
	})
}

func TestCancelledJobDoesNotWaitAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		for _, to := range []jobqueue.State{jobqueue.Stuck, jobqueue.Waiting} {
			jid := q.inState(jobqueue.Running)
			if state, err := q.queue.Cancel(q.ctx, jid); err != nil || state != jobqueue.Running {
				t.Fatalf("cancel: %s, %v", state, err)
			}
			result, err := q.store.Sync(q.ctx, jobdb.Request{Worker: worker, Transitions: []jobdb.Transition{
				{JID: jid, Worker: worker, From: jobqueue.Running, To: to, Delay: 1},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Missed) != 1 || !result.Missed[0].Cancel {
				t.Errorf("result %+v", result)
			}
			if job := q.get(jid); job.State != jobqueue.Running || job.Cancel.IsZero() {
				t.Errorf("the job is %s", job.State)
			}
			q.sql("DELETE FROM job WHERE jid = '%s'", jid)
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
		if job := q.get(jid); job.State != jobqueue.Cancelled || job.Finished.IsZero() || !job.Heartbeat.IsZero() || len(q.log(jid)) != 0 {
			t.Errorf("%+v, log %q", job, q.log(jid))
		}
	})
}
