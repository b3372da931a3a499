package model

import (
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// This file is what users, workers of jobs and the clock do, with the triggers that their
// statements fire.

// edit is an UPDATE of a task by a user, with the trigger nextrun_task_edited. It waits while a
// transaction has the row locked. One that changes no value writes the row all the same.
func (w *world) edit(id string, change func(r *row)) bool {
	n := slices.IndexFunc(w.tables.tasks, func(r row) bool { return r.ID == id })
	if n < 0 || w.locked(nil, id) {
		return false
	}
	old := w.tables.tasks[n]
	r := old
	change(&r)
	paused := r.Pause != old.Pause
	edited := r.Timer != old.Timer || r.Enabled != old.Enabled || r.Sink != old.Sink || !r.NextRun.Equal(old.NextRun)
	r.version++
	if edited || paused {
		r.edits, r.Worker, r.Marked = w.nextEdit(), "", time.Time{}
	}
	switch {
	case !r.NextRun.Equal(old.NextRun):
		r.Due, r.since = time.Time{}, time.Time{}
	case r.Timer != old.Timer, r.Enabled && !old.Enabled, edited && old.Due.Equal(periodic.Never):
		r.Due, r.NextRun, r.since = time.Time{}, periodic.Unplanned, time.Time{}
	}
	if w.tables.tasks[n] = r; r.Timer != old.Timer {
		w.unskip(id)
	}
	return true
}

// unskip deletes the skips of a task that are written ahead.
func (w *world) unskip(id string) bool {
	had := len(w.tables.ticks)
	w.tables.ticks = slices.DeleteFunc(w.tables.ticks, func(k tick) bool { return k.TaskID == id && k.Decided.IsZero() })
	return len(w.tables.ticks) < had
}

// skip writes a skip of the planned tick ahead, or takes it back, with the triggers nextrun_tick_skipped and
// nextrun_tick_unskipped, which write the task's row.
func (w *world) skip(id string) bool {
	n := slices.IndexFunc(w.tables.tasks, func(r row) bool { return r.ID == id })
	if n < 0 || w.locked(nil, id) {
		return false
	}
	r := &w.tables.tasks[n]
	if !w.unskip(id) {
		key := periodic.TickKey{TaskID: id, Due: r.Due}
		if r.Due.IsZero() || r.Due.Equal(periodic.Never) || slices.ContainsFunc(w.tables.ticks, func(k tick) bool { return k.Key() == key }) {
			return false
		}
		w.tables.ticks = append(w.tables.ticks, tick{Tick: periodic.Tick{TaskID: id, Due: r.Due, Decision: periodic.Skipped}})
	}
	r.version++
	r.edits = w.nextEdit()
	return true
}

// nextEdit names an edit.
func (w *world) nextEdit() int {
	w.edited++
	return w.edited
}

// other is the other one of two values.
func other[T comparable](is, a, b T) T {
	if is == a {
		return b
	}
	return a
}

// edits are what a user can do to a task.
var edits = map[string]func(w *world, id string) bool{
	"changes its timer": func(w *world, id string) bool {
		return w.edit(id, func(r *row) { r.Timer = other(r.Timer, everyMinute, everyHalfPast) })
	},
	"disables or enables it": func(w *world, id string) bool {
		return w.edit(id, func(r *row) { r.Enabled = !r.Enabled })
	},
	"pauses or resumes it": func(w *world, id string) bool {
		return w.edit(id, func(r *row) {
			if r.Pause.Since.IsZero() {
				r.Pause.Since = at(w.now)
			} else {
				r.Pause = periodic.Pause{}
			}
		})
	},
	"sets nextrun back to the first tick": func(w *world, id string) bool {
		return w.edit(id, func(r *row) { r.NextRun = at(2) })
	},
	"moves it to another queue": func(w *world, id string) bool {
		return w.edit(id, func(r *row) { r.Sink = other(r.Sink, periodic.SinkJob, otherSink) })
	},
	"deletes it, or inserts it again": (*world).deleteOrInsert,
	"adds a job of it by SQL":         (*world).addJob,
	"backfills its first tick":        (*world).backfill,
	"skips its tick ahead, or not":    (*world).skip,
}

// deleteOrInsert deletes a task, or inserts it without a plan.
func (w *world) deleteOrInsert(id string) bool {
	n := slices.IndexFunc(w.tables.tasks, func(r row) bool { return r.ID == id })
	if n < 0 {
		i := slices.IndexFunc(w.initial, func(t periodic.Task) bool { return t.ID == id })
		t := w.initial[i]
		t.Due, t.NextRun = time.Time{}, periodic.Unplanned
		w.tables.tasks = append(w.tables.tasks, row{Task: t, edits: w.nextEdit(), version: 100 * w.edited})
		return true
	}
	if w.locked(nil, id) {
		return false
	}
	w.tables.tasks = slices.Delete(w.tables.tasks, n, n+1)
	w.unskip(id)
	return true
}

// addJob is an INSERT into job by a user: a single job without a due.
func (w *world) addJob(id string) bool {
	t := &txn{now: at(w.now)}
	j := jobqueue.Job{JID: w.newJob(id, time.Time{}), Tracker: id, Single: true}
	if refused, err := w.submit(t, []jobqueue.Job{j}); err != nil || len(refused) > 0 {
		return false
	}
	w.commit(t)
	return true
}

// backfill is Tasks.Backfill of the first tick. It locks the task's row, removes its mark,
// and takes the tick unless that is submitted. A row of several ticks begins at the
// next one then.
func (w *world) backfill(id string) bool {
	n := slices.IndexFunc(w.tables.tasks, func(r row) bool { return r.ID == id })
	due := at(2)
	if n < 0 || w.locked(nil, id) || w.now <= 2 || w.tables.tasks[n].Timer != everyMinute {
		return false
	}
	r := w.tables.tasks[n]
	t := &txn{now: at(w.now)}
	if _, pending := w.pendingAnywhere(t, id); pending && !r.Overlapping() {
		return false
	}
	jid := w.newJob(id, due)
	r.Worker, r.Marked = "", time.Time{}
	r.version++ // SQLite's versions do not tell
	added := tick{Tick: periodic.Tick{TaskID: id, Due: due, Decision: periodic.Submitted, JID: jid, Decided: t.now}}
	ticks := slices.Clone(w.tables.ticks)
	if i := slices.IndexFunc(ticks, func(k tick) bool { return k.TaskID == id && k.Due.Equal(due) }); i >= 0 {
		switch k := ticks[i]; {
		case k.Decision == periodic.Submitted:
			return false
		case !k.Until.Before(due.Add(2 * unit)):
			ticks[i].Due = due.Add(2 * unit)
		default:
			ticks = slices.Delete(ticks, i, i+1)
		}
	}
	ticks = append(ticks, added)
	submit := w.submit
	if r.Sink == otherSink {
		submit = w.submitOther
	}
	if refused, err := submit(t, []jobqueue.Job{r.Job(jid, due, t.now)}); err != nil || len(refused) > 0 {
		return false
	}
	w.tables.tasks[n], w.tables.ticks = r, ticks
	w.commit(t)
	return true
}

// users adds what users can do.
func (a *actions) users() {
	if a.w.left.edit == 0 {
		return
	}
	for _, name := range a.w.edits {
		for _, t := range a.w.initial {
			a.add(fmt.Sprintf("a user %s (task %s)", name, t.ID), func(w *world) bool {
				w.left.edit--
				return edits[name](w, t.ID)
			})
		}
	}
}

// docspell adds what Docspell does: it marks the task, due or not, and takes its mark away. If the
// task was due, it has submitted a job and advances nextrun. An older nextrun marks tasks, too.
func (a *actions) docspell() {
	for _, t := range a.w.tables.tasks {
		for _, by := range []struct{ name, worker string }{{"Docspell", "docspell"}, {"an older nextrun of the name A", "A@0.1"}} {
			mark := func(r *row) { r.Worker, r.Marked = by.worker, at(a.w.now) }
			unmark := func(r *row) {
				if r.Worker, r.Marked = "", (time.Time{}); !r.NextRun.After(at(a.w.now)) {
					r.NextRun = timers[r.Timer].Next(at(a.w.now))
				}
			}
			if t.Worker == "" && a.w.left.mark > 0 {
				a.add(by.name+" marks the task "+t.ID, func(w *world) bool { w.left.mark--; return w.edit(t.ID, mark) })
			} else if t.Worker == by.worker {
				a.add(by.name+" takes its mark away from the task "+t.ID, func(w *world) bool { return w.edit(t.ID, unmark) })
			}
		}
	}
}

// server adds how the server loses its last commits: another one takes its place, to which they
// have not come. Transactions end. The rows are written anew under numbers of those that are lost.
func (a *actions) server() {
	switch w := a.w; {
	case w.left.lose == 0:
	case w.standby == nil:
		a.add("the standby server falls behind", func(w *world) bool {
			w.standby = &standby{w.tables.clone(), w.lock}
			return true
		})
	default:
		a.add("the standby takes the place of the server, which has failed", func(w *world) bool {
			w.left.lose--
			w.tables, w.lock, w.standby = w.standby.clone(), w.standby.lock, nil
			w.started++
			w.worker = nil
			for n := range w.instances {
				w.instances[n].end()
			}
			return true
		})
	}
}

// workers adds what workers of jobs do. On PostgreSQL the end of a job is a transaction.
func (a *actions) workers() {
	w := a.w
	if w.worker != nil {
		a.add("the worker commits the end of the job", func(w *world) bool {
			t := w.worker
			w.worker = nil
			w.commit(t)
			return true
		})
		return
	}
	for n, j := range w.tables.jobs {
		locked := slices.ContainsFunc(w.transactions(nil), func(t *txn) bool { return slices.ContainsFunc(t.own.jobs, func(o job) bool { return o.id == j.id }) })
		if !j.pending() || locked || w.left.job == 0 {
			continue
		}
		if j.state == jobqueue.Waiting {
			a.add("a worker begins the job "+j.id, func(w *world) bool { w.tables.jobs[n].state = jobqueue.Running; return true })
		}
		a.add("a worker ends the job "+j.id, func(w *world) bool {
			w.left.job--
			t := &txn{now: at(w.now)}
			j.state, j.ended = jobqueue.Success, t.now
			t.own.jobs = []job{j}
			if !w.fine {
				w.commit(t)
				return true
			}
			w.worker = t
			return true
		})
	}
}
