package model

import (
	"slices"

	"github.com/nextrun/nextrun/jobqueue"
)

// What has to hold once a healthy process has worked for a while.
const (
	ruleDecided = "G2: a tick is due, and a healthy process does not decide it"
	ruleLeft    = "G4: a mark is left, and a healthy process does not remove it"
)

// patience is how many units a healthy process has: a lease or a term of the lock may have to
// end before.
const patience = 6

// recovers reports which rule is broken if, from this state on, one process goes on and
// nothing else happens to it: the others stand still and jobs end. It tries each process.
func (w *world) recovers() string {
	for n := range w.instances {
		if !w.instances[n].up && slices.ContainsFunc(w.instances, func(i instance) bool { return i.up }) {
			continue // another one lives, and need not be started anew
		}
		next := w.clone()
		next.recoverBy(n)
		if next.broken != "" {
			return next.broken + " (" + next.instances[n].id() + " goes on alone)"
		}
	}
	return ""
}

func (w *world) recoverBy(n int) {
	i := &w.instances[n]
	if !i.up {
		i.up, i.begun, i.boot = true, true, i.boot+1
		w.clear(i, i.name)
	}
	for m := range w.instances { // the server ends transactions in which nothing happens
		if m != n && w.instances[m].tx != nil {
			w.instances[m].end()
		}
	}
	for range patience {
		w.now++
		w.round(i)
		w.endJobs()
		w.round(i)
	}
	w.rules()
	for _, r := range w.tables.tasks {
		if r.Worker != "" {
			w.breaks(ruleLeft, "task %s, mark %s", r.ID, r.Worker)
		}
		if r.Enabled && !r.NextRun.After(at(w.now)) {
			w.breaks(ruleDecided, "task %s, tick %s", r.ID, clock(r.NextRun))
		}
	}
}

// round is a round of the loop, and what the elector does meanwhile.
func (w *world) round(i *instance) {
	if i.tx != nil {
		w.complete(i)
	}
	a := &actions{w: w}
	do := func(_ string, f func(*world, *instance) bool) { f(w, i) }
	w.breakOff()
	for range 2 { // the second look finds what the first one has brought
		a.lock(do, i)
		if i.led && i.token == 0 {
			continue
		}
		left := w.left
		w.left = budget{}
		a.look(do, i)
		w.left = left
		for range 5 {
			for _, kind := range []string{submit, readDue, submit, readNew} {
				if (kind == submit) == (i.held != nil) && w.start(i, kind) {
					w.complete(i)
				}
			}
		}
	}
}

// breakOff commits what workers have begun.
func (w *world) breakOff() {
	if t := w.worker; t != nil {
		w.worker = nil
		w.commit(t)
	}
}

// complete runs the transaction of a process to its end.
func (w *world) complete(i *instance) {
	for i.tx != nil && !i.tx.done && w.broken == "" {
		if !w.run(i, 1000) {
			w.breakOff()
			if i.tx != nil && !w.run(i, 1000) {
				i.end()
			}
		}
	}
	if i.tx != nil && w.broken == "" {
		w.finish(i)
	}
}

// endJobs ends all jobs.
func (w *world) endJobs() {
	for n, j := range w.tables.jobs {
		if !j.pending() {
			continue
		}
		w.tables.jobs[n].state, w.tables.jobs[n].ended = jobqueue.Success, at(w.now)
	}
}
