package model

import (
	"slices"
	"strings"
)

// clear is a transaction that removes marks.
func (w *world) clear(i *instance, stale func(row) bool) bool {
	t := &txn{now: at(w.now)}
	if i.led && i.token != 0 {
		if t.fence = i.token; w.guard(i, t) != nil {
			i.token = 0
			i.end()
			return true
		}
	}
	w.clearMarks(t, stale)
	w.commit(t)
	return true
}

// look adds what a round does besides batches.
func (a *actions) look(do doing, i *instance) {
	w := a.w
	marked := func(stale func(row) bool) bool {
		return slices.ContainsFunc(w.tables.tasks, func(r row) bool { return r.Worker != "" && stale(r) && !w.locked(nil, r.ID) })
	}
	if expired := func(r row) bool { return w.expired(at(w.now), r) }; marked(expired) {
		do("removes expired marks", func(w *world, i *instance) bool {
			return w.clear(i, func(r row) bool { return w.expired(at(w.now), r) })
		})
	}
	if marked(w.hasEnded) {
		do("removes the marks of a worker that has ended", func(w *world, i *instance) bool { return w.clear(i, w.hasEnded) })
	}
	if w.left.presume > 0 && marked(func(r row) bool { return !strings.HasPrefix(r.Worker, i.id()+".") }) {
		do("takes a worker for dead, and removes its marks", func(w *world, i *instance) bool {
			w.left.presume--
			return w.clear(i, func(r row) bool { return !strings.HasPrefix(r.Worker, i.id()+".") })
		})
	}
	if len(i.left) > 0 {
		do("removes marks that it has left", func(w *world, i *instance) bool {
			marks := i.left
			i.left = nil
			w.clear(&instance{}, func(r row) bool { return slices.Contains(marks, r.Worker) })
			for _, r := range w.tables.tasks {
				if slices.Contains(marks, r.Worker) {
					i.left = append(i.left, r.Worker)
				}
			}
			return true
		})
	}
	if len(w.tables.ready) > 0 {
		do("looks after queued ticks", (*world).tend)
	}
	if slices.ContainsFunc(w.tables.open, func(o opened) bool { return w.hasQueued(nil, o.task) }) {
		do("looks at the open jobs of other queues", func(w *world, _ *instance) bool {
			t := &txn{now: at(w.now)}
			w.follow(t)
			w.commit(t)
			return true
		})
	}
}

// tend is Tend: it deletes stale rows of periodic_ready, and cancels jobs that a queued tick
// is to replace.
func (w *world) tend(*instance) bool {
	t := &txn{now: at(w.now)}
	w.forget(t)
	for _, r := range w.tables.tasks {
		if p, ok := w.pendingJob(t, r.ID); ok && slices.Contains(w.tables.ready, r.ID) && w.notAsked(t, r.ID) {
			w.cancel(t, p.JID)
		}
	}
	w.commit(t)
	return true
}

// hasEnded reports whether the worker of a mark is known to have ended.
func (w *world) hasEnded(r row) bool {
	if w.off(sessionEnd) {
		return false
	}
	for _, i := range w.instances {
		if i.up && strings.HasPrefix(r.Worker, i.id()+".") {
			return false
		}
	}
	return true
}
