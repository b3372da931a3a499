package model

import (
	"strings"
	"time"
)

// This file is store/internal/schedule/marks.go.

// clearMarks is ClearMarks, and Unmark with marks: it removes the marks for which stale says
// so, and passes over locked rows.
func (w *world) clearMarks(t *txn, stale func(row) bool) (n int) {
	for _, r := range w.seen(t).tasks {
		if r.Worker != "" && stale(r) && !w.locked(t, r.ID) {
			r.Worker, r.Marked = "", time.Time{}
			r.taken++
			t.own.tasks = merge(t.own.tasks, []row{r}, sameTask)
			n++
		}
	}
	return n
}

// expired is the condition of ClearMarks on the time of a mark.
func (w *world) expired(now time.Time, r row) bool {
	age := now.Sub(r.Marked)
	return (age > lease || age < -lease) && !w.off(leaseEnd)
}

// ofName reports whether a mark is one of a worker's name, whatever its boot id.
func ofName(mark, name string) bool { return strings.HasPrefix(mark, name+"@") }
