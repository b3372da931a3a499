package jobqueue_test

import (
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
)

const worker = "me/1"

// inState brings a new job to a state under worker.
func (q *fixture) inState(state jobqueue.State) string {
	q.Helper()
	jid := q.submit(jobqueue.Job{Task: "t"})[0]
	orders := []jobqueue.Orders{{Worker: worker, Claim: jobqueue.Claim{Limit: 1, Tasks: []string{"t"}, Name: "me", High: 3, Low: 1}}}
	if state != jobqueue.Scheduled {
		orders = append(orders, jobqueue.Orders{Worker: worker, Begin: []jobqueue.Beginning{{JID: jid}}})
	}
	for _, o := range orders {
		if _, err := q.store.Exchange(q.ctx, o); err != nil {
			q.Fatal(err)
		}
	}
	if job := q.get(jid); job.State != state {
		q.Fatalf("the job is %s, want %s", job.State, state)
	}
	return jid
}

func TestEveryTransitionIsFenced(t *testing.T) {
	begin := func(jid string) jobqueue.Orders {
		return jobqueue.Orders{Worker: worker, Begin: []jobqueue.Beginning{{JID: jid, Line: jobqueue.Line{ID: jid, JID: jid, Level: "info", Message: "x"}}}}
	}
	end := func(from, to jobqueue.State) func(string) jobqueue.Orders {
		return func(jid string) jobqueue.Orders {
			lines := []jobqueue.Line{{ID: jid, JID: jid, Level: "info", Message: "x"}}
			return jobqueue.Orders{Worker: worker, End: []jobqueue.Ending{{JID: jid, From: from, To: to, Delay: 1, Interrupted: true, Lines: lines}}}
		}
	}
	transitions := map[string]struct {
		from, to jobqueue.State
		orders   func(jid string) jobqueue.Orders
	}{
		"begin":   {jobqueue.Scheduled, jobqueue.Running, begin},
		"return":  {jobqueue.Scheduled, jobqueue.Waiting, end(jobqueue.Scheduled, jobqueue.Waiting)},
		"succeed": {jobqueue.Running, jobqueue.Success, end(jobqueue.Running, jobqueue.Success)},
		"fail":    {jobqueue.Running, jobqueue.Failed, end(jobqueue.Running, jobqueue.Failed)},
		"cancel":  {jobqueue.Running, jobqueue.Cancelled, end(jobqueue.Running, jobqueue.Cancelled)},
		"stick":   {jobqueue.Running, jobqueue.Stuck, end(jobqueue.Running, jobqueue.Stuck)},
		"release": {jobqueue.Running, jobqueue.Waiting, end(jobqueue.Running, jobqueue.Waiting)},
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
	onBoth(t, func(t *testing.T, q *fixture) {
		for name, tr := range transitions {
			jid := q.inState(tr.from)
			if _, err := q.store.Exchange(q.ctx, tr.orders(jid)); err != nil {
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
				report, err := q.store.Exchange(q.ctx, tr.orders(jid))
				if err != nil {
					t.Fatal(err)
				}
				if after := q.get(jid); after != before {
					t.Errorf("%s although %s: %+v became %+v", name, theft, before, after)
				}
				if len(report.Missed) != 1 || report.Missed[0].JID != jid {
					t.Errorf("%s although %s: report %+v", name, theft, report)
				}
				if log := q.log(jid); len(log) > 0 {
					t.Errorf("%s although %s: log %q", name, theft, log)
				}
				q.sql("DELETE FROM job WHERE jid = '%s'", jid)
			}
		}
	})
}

func TestCancelledJobNeitherBeginsNorWaitsAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		for _, o := range []struct {
			state  jobqueue.State
			orders func(jid string) jobqueue.Orders
		}{
			{jobqueue.Scheduled, func(jid string) jobqueue.Orders {
				return jobqueue.Orders{Worker: worker, Begin: []jobqueue.Beginning{{JID: jid}}}
			}},
			{jobqueue.Running, func(jid string) jobqueue.Orders {
				return jobqueue.Orders{Worker: worker, End: []jobqueue.Ending{{JID: jid, From: jobqueue.Running, To: jobqueue.Stuck, Delay: 1}}}
			}},
			{jobqueue.Running, func(jid string) jobqueue.Orders {
				return jobqueue.Orders{Worker: worker, End: []jobqueue.Ending{{JID: jid, From: jobqueue.Running, To: jobqueue.Waiting}}}
			}},
		} {
			jid := q.inState(o.state)
			if state, err := q.queue.Cancel(q.ctx, jid); err != nil || state != o.state {
				t.Fatalf("cancel: %s, %v", state, err)
			}
			report, err := q.store.Exchange(q.ctx, o.orders(jid))
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Missed) != 1 || !report.Missed[0].Cancel {
				t.Errorf("report %+v", report)
			}
			if job := q.get(jid); job.State != o.state || job.Cancel.IsZero() {
				t.Errorf("the job is %s", job.State)
			}
			q.sql("DELETE FROM job WHERE jid = '%s'", jid)
		}
	})
}
