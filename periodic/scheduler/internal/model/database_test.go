package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/days"
)

// This file is the database as the model has it: what the statements of
// store/internal/schedule do, each in words. The functions work in a transaction t. It sees
// what is committed and what it has written itself (READ COMMITTED), and keeps what it has
// written locked. A statement passes over rows that others have locked (SKIP LOCKED) where
// that is said, else it waits for them.

// errWaits says that a statement waits for a row that another transaction has locked.
var errWaits = errors.New("waits for a lock")

// locked reports whether another transaction has a task's row locked.
func (w *world) locked(t *txn, id string) bool {
	return !w.off(rowLock) && slices.ContainsFunc(w.transactions(t), func(other *txn) bool {
		return slices.ContainsFunc(other.own.tasks, func(r row) bool { return r.ID == id })
	})
}

// read is Tasks: what is wanted of the enabled tasks without a mark. It locks nothing.
func (w *world) read(t *txn, wanted batch.Wanted) (tasks []periodic.Task) {
	for _, r := range w.tables.tasks {
		if w.wants(t.now, r, wanted) {
			r = w.withSkips(r)
			t.keep(r)
			r.Version = w.versionOf(r)
			tasks = append(tasks, r.Task)
		}
	}
	slices.SortFunc(tasks, func(a, b periodic.Task) int { return cmp.Or(a.NextRun.Compare(b.NextRun), cmp.Compare(a.ID, b.ID)) })
	return tasks
}

// withSkips is a row with the skips of its task that are written ahead.
func (w *world) withSkips(r row) row {
	for _, k := range w.tables.ticks {
		if k.TaskID == r.ID && k.Decided.IsZero() {
			r.Days.Skips = append(r.Days.Skips, days.LeftOut{Due: k.Due})
		}
	}
	return r
}

// versionOf is the column rev: another number after each edit and each plan. It follows the clock, so that none comes
// again once a server that loses commits has been replaced.
func (w *world) versionOf(r row) string {
	if w.off(serverStart) {
		return strconv.Itoa(r.version)
	}
	return fmt.Sprint(r.version, "/", w.started)
}

func (w *world) free(r row) bool { return r.Enabled && (r.Worker == "" || w.off(othersMark)) }

// wants reports whether a task is among those wanted: it has no plan, its nextrun comes within a time, or it has
// come and the task does not wait for the end of a job.
func (w *world) wants(now time.Time, r row, wanted batch.Wanted) bool {
	due := !r.NextRun.After(now)
	switch {
	case !w.free(r):
		return false
	case wanted.Ahead > 0:
		return !due && !r.NextRun.After(now.Add(wanted.Ahead))
	case wanted.Unplanned:
		return r.NextRun.Equal(periodic.Unplanned)
	}
	return due && !r.NextRun.Equal(periodic.Unplanned) && !w.waits(r)
}

// waits is batch.Waits: a job of the task is pending in the table job, and overlap is queue, or it is replace and
// the job has been asked to end.
func (w *world) waits(r row) bool {
	return r.Queues() && slices.ContainsFunc(w.tables.jobs, func(j job) bool {
		return j.tracker == r.ID && !j.other && j.pending() && (r.Overlap == periodic.OverlapQueue || j.asked)
	})
}

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

// decided is Ticks: what is recorded of tasks from a tick on, the row before it included, since that may reach
// beyond it.
func (w *world) decided(t *txn, since []periodic.TickKey) map[string][]periodic.Range {
	found := map[string][]periodic.Range{}
	all := w.seen(t).ticks
	slices.SortFunc(all, func(a, b tick) int { return a.Due.Compare(b.Due) })
	for _, s := range since {
		for _, k := range all {
			if k.TaskID != s.TaskID || k.Decided.IsZero() {
				continue
			}
			if !k.Due.After(s.Due) {
				found[s.TaskID] = nil
			}
			found[s.TaskID] = append(found[s.TaskID], periodic.Range{First: k.Due, Last: last(k)})
		}
	}
	return found
}

// ended is Ended: when the jobs of the last submitted ticks of tasks ended, as the table job says.
func (w *world) ended(ids []string) map[string]time.Time {
	found := map[string]time.Time{}
	for _, id := range ids {
		var newest tick
		for _, k := range w.tables.ticks {
			if k.TaskID == id && k.Decision == periodic.Submitted && !k.Due.Before(newest.Due) {
				newest = k
			}
		}
		for _, j := range w.tables.jobs {
			if j.id == newest.JID && !j.other && !j.ended.IsZero() {
				found[id] = j.ended
			}
		}
	}
	return found
}

// last is the newest tick that a row of periodic_tick accounts for.
func last(k tick) time.Time {
	if k.Until.IsZero() {
		return k.Due
	}
	return k.Until
}

// advance is Advance: due and nextrun become those of the plans, where the row is as it was read. It passes over locked
// rows, and locks those that it writes.
func (w *world) advance(t *txn, plans []periodic.Plan) (ids []string) {
	for _, p := range plans {
		v := w.seen(t).tasks
		i := slices.IndexFunc(v, func(r row) bool { return r.ID == p.Task.ID })
		if i < 0 || w.locked(t, p.Task.ID) {
			continue
		}
		r := v[i]
		if asRead := w.free(r) && w.versionOf(w.withSkips(r)) == p.Task.Version; !asRead && !w.off(version) {
			continue
		}
		if r.Due, r.NextRun = p.Due, p.NextRun; p.Due.Equal(periodic.Never) {
			r.Due, r.NextRun = periodic.Never, periodic.Never
		}
		if r.since.IsZero() {
			r.since = p.Due
			if !p.Manual.IsZero() {
				r.since = p.Manual
			}
		}
		r.version++
		t.own.tasks = merge(t.own.tasks, []row{r}, sameTask)
		ids = append(ids, r.ID)
	}
	return ids
}

// record is Record. It settles ticks that were written ahead, or by this transaction, and adds those whose (task_id, due) does not exist. It returns what it has written. It
// waits for one that another transaction is adding.
func (w *world) record(t *txn, settled, added []periodic.Tick) (keys []periodic.TickKey, err error) {
	for _, s := range settled {
		i := slices.IndexFunc(w.seen(t).ticks, func(k tick) bool {
			return k.Key() == s.Key() && (k.Decided.IsZero() || k.Worker == s.Worker && k.Decided.Equal(s.Decided))
		})
		if i >= 0 {
			k := w.seen(t).ticks[i]
			k.Decision, k.JID, k.Worker, k.Decided = s.Decision, s.JID, s.Worker, s.Decided
			t.own.ticks = merge(t.own.ticks, []tick{k}, sameTick)
			keys = append(keys, k.Key())
		}
	}
	for _, a := range added {
		same := func(k tick) bool { return k.Key() == a.Key() }
		for _, other := range w.transactions(t) {
			if slices.ContainsFunc(other.own.ticks, same) && !w.off(tickKey) {
				return nil, errWaits
			}
		}
		k := tick{Tick: a}
		for _, have := range w.seen(t).ticks {
			if same(have) {
				k.copies++
			}
		}
		if k.copies > 0 && !w.off(tickKey) {
			continue
		}
		t.own.ticks = append(t.own.ticks, k)
		keys = append(keys, k.Key())
	}
	return keys, nil
}
