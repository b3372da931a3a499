package model

import "slices"

// clear is a transaction that removes expired marks, and those of a name.
func (w *world) clear(i *instance, name string) bool {
	t := &txn{now: at(w.now)}
	if i.led && i.token != 0 {
		if t.fence = i.token; w.guard(i, t) != nil {
			i.token = 0
			return true
		}
	}
	w.clearMarks(t, name)
	w.commit(t)
	return true
}

// look adds what a round does besides batches.
func (a *actions) look(do doing, i *instance) {
	w := a.w
	expired := func(r row) bool { return r.Worker != "" && w.expired(at(w.now), r) && !w.locked(nil, r.ID) }
	if slices.ContainsFunc(w.tables.tasks, expired) {
		do("removes expired marks", func(w *world, i *instance) bool { return w.clear(i, "") })
	}
}

// clock adds the steps of the database's clock.
func (a *actions) clock() {
	if a.w.left.ahead > 0 {
		a.add("half a minute passes: it is "+clock(at(a.w.now+1)), func(w *world) bool {
			w.left.ahead--
			w.now++
			w.high = max(w.high, w.now)
			return true
		})
	}
	if a.w.left.back > 0 && a.w.now > 2 {
		a.add("the clock is set back: it is "+clock(at(a.w.now-2)), func(w *world) bool {
			w.left.back--
			w.now -= 2
			return true
		})
	}
}
