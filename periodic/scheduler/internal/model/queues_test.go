package model

import (
	"slices"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// This file is the part of the database for queues that are not nextrun's own:
// store/internal/schedule/foreign.go and open.go. Each function stands for
// several statements. Only the end of a job can come between these, since whoever submits
// has the task's row locked.

// otherPending is openJobs.pending: the newest of the jobs that periodic_open names which are not final.
func (w *world) otherPending(t *txn, id string) (sink.Pending, bool) {
	v := w.seen(t)
	if w.off(openRow) {
		return sink.Pending{}, false
	}
	found, ok := sink.Pending{}, false
	for _, o := range v.open {
		i := slices.IndexFunc(v.jobs, func(j job) bool { return j.id == o.jid && j.other && j.pending() })
		if o.task == id && i >= 0 && (!ok || found.Due.Before(o.due)) {
			found, ok = sink.Pending{JID: o.jid, State: v.jobs[i].state, Due: o.due}, true
		}
	}
	return found, ok
}

// pendingAnywhere is movedQueue.Pending and foreignQueue.Pending: a job in the table job goes
// before one of another queue.
func (w *world) pendingAnywhere(t *txn, id string) (sink.Pending, bool) {
	if p, ok := w.pendingJob(t, id); ok {
		return p, ok
	}
	return w.otherPending(t, id)
}

// submitOther is foreignQueue.Submit: it refuses a job that is single while the open job of
// its task is pending, and records the others in periodic_open.
func (w *world) submitOther(t *txn, jobs []jobqueue.Job) (refused []sink.Submission, err error) {
	for _, j := range jobs {
		if _, inTheWay := w.otherPending(t, j.Tracker); inTheWay && j.Single {
			refused = append(refused, sink.Submission{JID: j.JID})
			continue
		}
		t.own.jobs = append(t.own.jobs, job{id: j.JID, tracker: j.Tracker, due: j.Due, single: j.Single, other: true, state: jobqueue.Waiting})
		t.own.open = merge(t.own.open, []opened{{task: j.Tracker, jid: j.JID, sink: otherSink, due: j.Due}}, sameOpen)
	}
	return refused, nil
}
