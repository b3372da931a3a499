package model

import (
	"strings"
	"time"
)

// This file is store/internal/schedule/marks.go.

// clearMarks is ClearMarks: it removes the marks that have expired, and those of a worker name
// if one is given, whatever the boot id. It passes over locked rows.
func (w *world) clearMarks(t *txn, name string) {
	for _, r := range w.seen(t).tasks {
		ofName := name != "" && strings.HasPrefix(r.Worker, name+"@")
		if r.Worker != "" && (ofName || w.expired(t.now, r)) && !w.locked(t, r.ID) {
			r.Worker, r.Marked = "", time.Time{}
			r.version++
			t.own.tasks = merge(t.own.tasks, []row{r}, sameTask)
		}
	}
}

// expired is the condition of ClearMarks on the time of a mark.
func (w *world) expired(now time.Time, r row) bool {
	age := now.Sub(r.Marked)
	return (age > lease || age < -lease) && !w.off(leaseEnd)
}
