package model

import (
	"slices"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// This file is the table job, as the model has it.

// pendingJob is JobSink.Pending: the newest pending job of a task.
func (w *world) pendingJob(t *txn, id string) (sink.Pending, bool) {
	for _, j := range slices.Backward(w.seen(t).jobs) {
		if j.tracker == id && !j.other && j.pending() {
			return sink.Pending{JID: j.id, State: j.state, Due: j.due}, true
		}
	}
	return sink.Pending{}, false
}

// submit is JobSink.Submit. The index nextrun_job_pending refuses a job that is single while
// another one of its tracker is pending. It waits for a job that another transaction is
// adding or ending.
func (w *world) submit(t *txn, jobs []jobqueue.Job) (refused []sink.Submission, err error) {
	for _, j := range jobs {
		inTheWay := func(o job) bool { return o.tracker == j.Tracker && !o.other && o.single && j.Single && o.pending() }
		for _, other := range w.transactions(t) {
			changing := func(o job) bool { return o.tracker == j.Tracker && !o.other && o.single && j.Single }
			if slices.ContainsFunc(other.own.jobs, changing) && !w.off(pendingIndex) {
				return nil, errWaits
			}
		}
		if slices.ContainsFunc(w.seen(t).jobs, inTheWay) && !w.off(pendingIndex) {
			refused = append(refused, sink.Submission{JID: j.JID})
			continue
		}
		t.own.jobs = append(t.own.jobs, job{id: j.JID, tracker: j.Tracker, due: j.Due, single: j.Single, state: jobqueue.Waiting})
	}
	return refused, nil
}

// plainAnswer is what SubmitPlain answers: the tasks that did not advance, or that something is in the way.
type plainAnswer struct {
	left     []string
	inTheWay bool
}

// submitPlain is SubmitPlain of PostgreSQL: one statement does what Advance, Record and Submit do. A tick that exists,
// or a job that is refused, undoes all of it, and the code begins another transaction. While it waits, it has done nothing.
func (w *world) submitPlain(t *txn, plans []periodic.Plan, ticks []periodic.Tick, jobs []jobqueue.Job) (a plainAnswer, err error) {
	own := t.own.clone()
	ids := w.advance(t, plans)
	lost := func(id string) bool { return !slices.Contains(ids, id) }
	ticks = slices.DeleteFunc(ticks, func(k periodic.Tick) bool { return lost(k.TaskID) })
	jobs = slices.DeleteFunc(jobs, func(j jobqueue.Job) bool { return lost(j.Tracker) })
	keys, err := w.record(t, nil, ticks)
	var refused []sink.Submission
	if err == nil {
		refused, err = w.submit(t, jobs)
	}
	a.inTheWay = err == nil && (len(keys) < len(ticks) || len(refused) > 0)
	if err != nil || a.inTheWay {
		t.own = own
		return a, err
	}
	for i := range plans {
		if id := plans[i].Task.ID; lost(id) {
			a.left = append(a.left, id)
		}
	}
	return a, nil
}

// cancel is JobSink.Cancel: jobs that no worker has become final, others are asked to end.
// It passes over locked rows.
func (w *world) cancel(t *txn, jid string) bool {
	for _, other := range w.transactions(t) {
		if slices.ContainsFunc(other.own.jobs, func(j job) bool { return j.id == jid }) {
			return false
		}
	}
	for _, j := range w.seen(t).jobs {
		if j.id != jid || !j.pending() || j.other { // the other queue cannot cancel
			continue
		}
		if j.asked = true; j.state == jobqueue.Waiting {
			j.state, j.ended = jobqueue.Cancelled, t.now
		}
		t.own.jobs = merge(t.own.jobs, []job{j}, sameJob)
		return true
	}
	return false
}
