package nextruntest

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// CheckSubmitter checks a queue of your own against what the scheduler expects of it: that it
// answers for each job it is given, knows the open ones, and, as a [sink.EndTeller], tells those
// that have ended from those that have not and those that it does not have. task is a name that
// the queue takes. end has a worker end the job with the id ref in the queue; nil: that is not
// checked. All happens in tx, which the caller rolls back.
func CheckSubmitter(t testing.TB, tx jobqueue.DBTX, q sink.Submitter, task string, end func(ref string)) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Second)
	var jobs []jobqueue.Job
	for i := range 3 {
		id := fmt.Sprintf("nextruntest-%d", i)
		jobs = append(jobs, jobqueue.Job{
			JID: uuid.NewString(), Task: task, Group: "default", Args: "{}", Subject: id, Submitter: "nextruntest", Tracker: id,
			Single: true, Due: now, Submitted: now,
		})
	}
	c := queueCheck{TB: t, tx: tx, q: q, open: map[string]sink.Open{}}
	c.submit(jobs)
	c.wantOpen("a job that was just submitted", jobs)
	if end == nil || t.Failed() {
		return
	}
	end(c.open[jobs[0].JID].Ref)
	c.wantOpen("after a job has ended", jobs[1:])
	if teller, ok := q.(sink.EndTeller); ok {
		c.ends(teller, jobs)
	}
}

type queueCheck struct {
	testing.TB

	tx   jobqueue.DBTX
	q    sink.Submitter
	open map[string]sink.Open // by JID
}

func (c *queueCheck) submit(jobs []jobqueue.Job) {
	c.Helper()
	list, err := c.q.Submit(c.Context(), c.tx, jobs)
	if err != nil {
		c.Fatalf("Submit: %v", err)
	}
	for _, s := range list {
		c.open[s.JID] = sink.Open{JID: s.JID, Ref: s.Ref}
		if s.Refused != "" {
			c.Errorf("Submit refuses job %s: %s", s.JID, s.Refused)
		}
	}
	refs := map[string]bool{}
	for _, j := range jobs {
		o, known := c.open[j.JID]
		if !known || o.Ref == "" || refs[o.Ref] {
			c.Errorf("Submit says nothing of job %s, or gives it no id of its own in the queue: %+v", j.JID, list)
		}
		refs[o.Ref] = true
		c.open[j.JID] = sink.Open{TaskID: j.Tracker, JID: j.JID, Ref: o.Ref, Due: j.Due, Submitted: j.Submitted}
	}
	if len(list) != len(jobs) {
		c.Errorf("Submit answers for %d of %d jobs", len(list), len(jobs))
	}
}

// ask is what the scheduler asks about: all jobs, and one that the queue does not have.
func (c *queueCheck) ask() []sink.Open {
	var ref string
	var list []sink.Open
	for _, o := range c.open {
		list, ref = append(list, o), max(ref, o.Ref)
	}
	gone := sink.Open{TaskID: "nextruntest-gone", JID: uuid.NewString(), Ref: uuid.NewString()}
	if _, err := uuid.Parse(ref); err != nil {
		gone.Ref = "999999999" + ref[:min(len(ref), 9)]
	}
	return append(list, gone)
}

func (c *queueCheck) wantOpen(what string, jobs []jobqueue.Job) {
	c.Helper()
	list, err := c.q.Pending(c.Context(), c.tx, c.ask())
	if err != nil {
		c.Fatalf("Pending: %v", err)
	}
	got := map[string]bool{}
	for _, p := range list {
		got[p.JID] = true
		if p.State.Final() {
			c.Errorf("Pending, %s: job %s is %s, which is final", what, p.JID, p.State)
		}
	}
	for _, j := range jobs {
		if !got[j.JID] {
			c.Errorf("Pending, %s: job %s is missing", what, j.JID)
		}
	}
	if len(got) != len(jobs) {
		c.Errorf("Pending, %s: %d jobs are open, want %d", what, len(got), len(jobs))
	}
}

// ends checks what the queue tells after the first job has ended.
func (c *queueCheck) ends(q sink.EndTeller, jobs []jobqueue.Job) {
	c.Helper()
	list, err := q.Ends(c.Context(), c.tx, c.ask())
	if err != nil {
		c.Fatalf("Ends: %v", err)
	}
	if gone := q.Gone(); gone != sink.EndGone && gone != sink.EndFailed && gone != sink.EndUnknown {
		c.Errorf("Gone is %q; want gone, failed or unknown", gone)
	}
	state := map[string]sink.EndState{}
	for _, e := range list {
		if _, known := c.open[e.JID]; !known {
			c.Errorf("Ends tells of the job %s, which the queue does not have", e.JID)
		}
		if state[e.JID] = e.State; e.State != "" && !e.State.Valid() {
			c.Errorf("Ends: job %s has the state %q; want success, failed, cancelled, or none", e.JID, e.State)
		}
	}
	for i, j := range jobs {
		told, has := state[j.JID]
		switch ended := i == 0; {
		case ended && has && told == "", !ended && (told != "" || !has):
			c.Errorf("Ends: job %s has the state %q; has it ended: %v", j.JID, cmp.Or(told, "none"), ended)
		}
	}
}
