package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
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
	for _, other := range w.transactions(t) {
		if slices.Contains(other.held, id) || slices.ContainsFunc(other.own.tasks, func(r row) bool { return r.ID == id }) {
			return true
		}
	}
	return false
}

// claim is Claim. It takes enabled tasks without a mark whose nextrun has come, whose plan is
// missing, or whose queued tick waits for nothing, locks them, and passes over those that others
// have locked. With Ahead it only reads, and only those whose nextrun comes within that time and
// that have no queued tick.
func (w *world) claim(t *txn, c taskdb.Claim) (tasks []periodic.Task) {
	later := false
	for _, r := range w.seen(t).tasks {
		if !w.claimable(t, r, c) {
			continue
		}
		if c.Ahead == 0 && !w.off(rowLock) {
			t.held = append(t.held, r.ID)
		}
		t.keep(r)
		if c.Ahead > 0 {
			r.Version = w.versionOf(r)
		}
		tasks = append(tasks, r.Task)
		later = later || r.NextRun.After(t.now)
	}
	slices.SortFunc(tasks, func(a, b periodic.Task) int { return cmp.Or(a.NextRun.Compare(b.NextRun), cmp.Compare(a.ID, b.ID)) })
	if later && c.Ahead == 0 {
		w.forget(t)
	}
	return tasks
}

// versionOf is the version of a row: on PostgreSQL the transaction that has written it, and the
// start of the server; on SQLite the columns that a claim reads.
func (w *world) versionOf(r row) string {
	switch {
	case w.sqlite:
		r.Enabled, r.Worker, r.Marked = true, "", time.Time{}
		return taskText(&r.Task)
	case w.off(serverStart):
		return strconv.Itoa(r.version)
	}
	return fmt.Sprint(r.version, "/", w.started)
}

func (w *world) free(r row) bool { return r.Enabled && (r.Worker == "" || w.off(othersMark)) }

func (w *world) claimable(t *txn, r row, c taskdb.Claim) bool {
	if !w.free(r) {
		return false
	}
	if c.Ahead > 0 {
		return r.NextRun.After(t.now) && !r.NextRun.After(t.now.Add(c.Ahead)) && (!r.Queues() || !w.hasQueued(t, r.ID))
	}
	if w.locked(t, r.ID) && !w.off(rowLock) {
		return false
	}
	return !r.NextRun.After(t.now) || slices.Contains(w.seen(t).ready, r.ID) && !r.Pause.At(t.now) && w.waitsForNothing(t, r.ID)
}

// waitsForNothing is the condition of that name in ready.go: the task has a queued tick, no
// pending job, and no row of periodic_open.
func (w *world) waitsForNothing(t *txn, id string) bool {
	v := w.seen(t)
	return w.hasQueued(t, id) &&
		!slices.ContainsFunc(v.jobs, func(j job) bool { return j.tracker == id && !j.other && j.pending() }) &&
		!slices.ContainsFunc(v.open, func(o opened) bool { return o.task == id })
}

func (w *world) hasQueued(t *txn, id string) bool {
	return slices.ContainsFunc(w.seen(t).ticks, func(k tick) bool { return k.TaskID == id && k.Decision == periodic.Queued })
}

// forget is forget in ready.go: it deletes the rows of periodic_ready that are stale, and
// passes over those that others delete.
func (w *world) forget(t *txn) {
	free := w.ready
	for _, other := range w.transactions(t) {
		free = without(free, other.forgot)
	}
	for _, id := range free {
		if !w.waitsForNothing(t, id) && !w.notAsked(t, id) {
			t.forgot = append(t.forgot, id)
		}
	}
}

// notAsked is the condition of that name in ready.go: a queued tick is to replace a job, and
// no pending job of the task has been asked to end.
func (w *world) notAsked(t *txn, id string) bool {
	v := w.seen(t)
	replaces := slices.ContainsFunc(v.tasks, func(r row) bool { return r.ID == id && r.Enabled && r.Overlap == periodic.OverlapReplace })
	pending := func(j job) bool { return j.tracker == id && !j.other && j.pending() }
	return replaces && w.hasQueued(t, id) && slices.ContainsFunc(v.jobs, pending) &&
		!slices.ContainsFunc(v.jobs, func(j job) bool { return pending(j) && j.asked })
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

// ticks is Ticks: the queued ticks of tasks, and what is recorded of others from a tick on,
// the row before it included if that may reach beyond it.
func (w *world) recorded(t *txn, queued []string, since []periodic.TickKey) taskdb.Recorded {
	found := taskdb.Recorded{Queued: map[string][]time.Time{}, Decided: map[string][]decide.Range{}}
	all := w.seen(t).ticks
	slices.SortFunc(all, func(a, b tick) int { return a.Due.Compare(b.Due) })
	for _, k := range all {
		if k.Decision == periodic.Queued && slices.Contains(queued, k.TaskID) {
			found.Queued[k.TaskID] = append(found.Queued[k.TaskID], k.Due)
		}
	}
	for _, s := range since {
		for _, k := range all {
			if k.TaskID != s.TaskID {
				continue
			}
			if !k.Due.After(s.Due) {
				found.Decided[s.TaskID] = nil
			}
			found.Decided[s.TaskID] = append(found.Decided[s.TaskID], decide.Range{First: k.Due, Last: last(k)})
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

// advance is Advance: due and nextrun become those of the plans, where the row is as it was read or,
// for a task without a version, the transaction has locked it. It passes over locked rows.
func (w *world) advance(t *txn, plans []decide.Plan) (ids []string) {
	for _, p := range plans {
		v := w.seen(t).tasks
		i := slices.IndexFunc(v, func(r row) bool { return r.ID == p.Task.ID })
		if i < 0 || w.locked(t, p.Task.ID) {
			continue
		}
		r := v[i]
		if asRead := w.free(r) && w.versionOf(r) == p.Task.Version; p.Task.Version != "" && !asRead && !w.off(version) {
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

// record is Record. It settles ticks that are queued, or that this transaction has written,
// and adds those whose (task_id, due) does not exist. It returns what it has written. It
// waits for one that another transaction is adding.
func (w *world) record(t *txn, settled, added []periodic.Tick) (keys []periodic.TickKey, err error) {
	for _, s := range settled {
		i := slices.IndexFunc(w.seen(t).ticks, func(k tick) bool {
			return k.Key() == s.Key() && (k.Decision == periodic.Queued || k.Worker == s.Worker && k.Decided.Equal(s.Decided))
		})
		if i >= 0 {
			k := w.seen(t).ticks[i]
			k.Decision, k.JID, k.Worker, k.Decided = s.Decision, s.JID, s.Worker, s.Decided
			t.own.ticks = merge(t.own.ticks, []tick{k}, sameTick)
			keys = append(keys, k.Key())
			w.tickQueues(t, k)
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
		w.tickQueues(t, k)
	}
	return keys, nil
}

// tickQueues is the trigger nextrun_tick_queues: it adds a row to periodic_ready. On SQLite,
// where no job can end meanwhile, it does so only if none is pending.
func (w *world) tickQueues(t *txn, k tick) {
	inTheWay := func(j job) bool { return j.tracker == k.TaskID && !j.other && j.pending() }
	if k.Decision == periodic.Queued && !w.off(queueNote) && (!w.sqlite || !slices.ContainsFunc(w.seen(t).jobs, inTheWay)) {
		t.own.ready = append(t.own.ready, k.TaskID)
	}
}
