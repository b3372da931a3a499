package model

import (
	"fmt"
	"slices"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/leader"
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

// This file is store/internal/lock: the row of scheduler_lock.

// guard is Guard: the row must name this process and its term. It stays locked (FOR SHARE) until the transaction
// ends.
func (w *world) guard(i *instance, t *txn) error {
	ours := w.lock.holder == i.id() && w.lock.token == t.fence
	if !ours && !w.off(guardCheck) {
		return leader.ErrLost
	}
	t.shares = !w.off(guardShare)
	return nil
}

// changeable reports whether no transaction keeps the lock's row.
func (w *world) changeable() bool {
	for _, t := range w.transactions(nil) {
		if t.shares {
			return false
		}
	}
	return true
}

// lock adds what a process can do with the lock: Take takes it if it is ours, or expired, with a new token;
// Renew moves its end if the term is ours.
func (a *actions) lock(do doing, i *instance) {
	w := a.w
	if !i.led || !w.changeable() {
		return
	}
	ours := i.token != 0 && w.lock.holder == i.id() && w.lock.token == i.token
	live := w.lock.expires > w.now && w.lock.expires <= w.now+2*ttl
	if i.token == 0 && (!live || w.lock.holder == i.id()) {
		token := w.lock.token + 1
		do(fmt.Sprintf("acquires the lock with token %d", token), func(w *world, i *instance) bool {
			w.lock = lockRow{holder: i.id(), token: token, expires: w.now + ttl}
			i.token = token
			return true
		})
	}
	if ours && w.lock.expires < w.now+ttl {
		do("renews the lock", func(w *world, _ *instance) bool { w.lock.expires = w.now + ttl; return true })
	}
}

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
