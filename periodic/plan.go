package periodic

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic/sink"
)

// maxCatchup is the greatest number of ticks of one task in one batch.
const maxCatchup = 100

// Facts is what a decision depends on besides the task.
type Facts struct {
	Now     time.Time
	Pending *sink.Pending // a job of the task that is not final
	Ended   time.Time     // when the job of its last tick ended, for overlap queue and replace; zero: not known, or there was none
	Decided []Range       // recorded already since the time that [Task.Behind] says, oldest first, at most MaxDecided
	Worker  string        // who decides
	Most    int           // greatest number of ticks to decide; 0: 100
}

// Plan is what a scheduler has decided for one task.
type Plan struct {
	Task    *Task
	Due     time.Time // the next tick, or Never
	NextRun time.Time // Due and its jitter
	Problem string
	Ticks   []Tick    // to add, oldest first
	Settled []Tick    // ticks of the table that are decided now: skips that were written ahead
	Cancel  string    // id of a pending job to cancel (OverlapReplace)
	Held    bool      // the task stays due until a job has ended; nothing is written but Cancel
	Manual  time.Time // the tick that a user set and that is decided here; zero: none

	until time.Time // when the first of the ticks that it submits becomes late; zero: never
}

// Unplannable is the plan of a task whose timer cannot be read: never, until the
// row is edited.
func (t *Task) Unplannable(problem error) Plan {
	return Plan{Task: t, Due: Never, NextRun: Never, Problem: problem.Error()}
}

// Range is what one row of periodic_tick accounts for: a tick, or several in
// a row that were missed.
type Range struct{ First, Last time.Time }

// A plan may be made before its time, as if the tick of its task were due already.
// These methods say whether it can be used then without asking the database again.

// Plain reports whether a plan only submits the tick that its task was planned for, and
// was made without regard to other jobs and ticks of the task. If a job of the task is
// pending by the time that the plan is used, the queue refuses the new one, and the tick
// is skipped as it would have been.
func (p *Plan) Plain() bool {
	t := p.Task
	return !t.Due.IsZero() && t.Pause.Since.IsZero() &&
		len(p.Ticks) == 1 && p.Ticks[0].Decision == Submitted && p.Ticks[0].Due.Equal(t.Due) && t.Days.Exclude == "" &&
		len(p.Settled) == 0 && p.Cancel == ""
}

// MayBeMadeAhead reports whether a plan may be made before its time and written then as it is, if the row of its task is as it
// was read: only an edit, or a job that the queue refuses, can change it. Failures in a row, which pause a task with
// PauseAfter, are counted when it is due.
func (p *Plan) MayBeMadeAhead() bool { return p.Plain() && p.Task.PauseAfter == 0 }

// Lasts reports whether a plan that was made at a time holds at a later one. A process that stood still in between has to
// decide anew.
func (p *Plan) Lasts(made, now time.Time, validFor time.Duration) bool {
	t := p.Task
	if !p.until.IsZero() && now.After(p.until) {
		return false
	}
	if t.NextRun.After(made) {
		age := now.Sub(t.NextRun)
		return age >= 0 && age < validFor && now.Before(p.NextRun) && (t.Catchup != CatchupNone || age <= t.Grace)
	}
	age := now.Sub(made) // negative: the clock was set back
	return age >= 0 && age < validFor
}

// record adds a tick to the plan.
func (d *decider) record(due time.Time, decision Decision, cause Cause, reason string) *Tick {
	d.plan.Ticks = append(d.plan.Ticks, d.tick(due, decision, cause, reason))
	return &d.plan.Ticks[len(d.plan.Ticks)-1]
}

// settle decides a skip that was written ahead.
func (d *decider) settle(due time.Time) {
	d.plan.Settled = append(d.plan.Settled, d.tick(due, Skipped, CausePerson, d.task.SkipAt(due).Reason))
}

// withdraw skips the tick of a job that this plan was to submit, for a later one. It reports whether there is one.
func (d *decider) withdraw(jid string) bool {
	i := slices.IndexFunc(d.plan.Ticks, func(t Tick) bool { return t.JID == jid })
	if i < 0 {
		return false
	}
	d.plan.Ticks[i] = d.tick(d.plan.Ticks[i].Due, Skipped, CauseSuperseded, "")
	return true
}

func (d *decider) tick(due time.Time, decision Decision, cause Cause, reason string) Tick {
	return Tick{TaskID: d.task.ID, Due: due, Decision: decision, Cause: cause, Reason: reason, Worker: d.Worker, Decided: d.Now}
}

// missed records the ticks from first to last that have not been decided before,
// one row for each uninterrupted run of them.
func (d *decider) missed(first, last time.Time) {
	for _, r := range d.Decided {
		if first.IsZero() || r.First.After(last) {
			break
		}
		if r.Last.Before(first) {
			continue
		}
		if before := d.timer.Prev(r.First); !before.Before(first) {
			d.missedRun(first, before)
		}
		first = d.timer.Next(r.Last)
	}
	if !first.IsZero() && !first.After(last) {
		d.missedRun(first, last)
	}
}

// missedRun records the ticks from first to last as one row, and those of a pause, and those that waited for
// a job, as others, as skipped. So it does with those that calendars leave out.
func (d *decider) missedRun(first, last time.Time) {
	for _, edge := range []time.Time{d.paused.Since, d.paused.Until, d.waited} {
		if first.Before(edge) && !last.Before(edge) {
			d.missedRun(first, d.timer.Prev(edge))
			first = d.timer.Next(edge.Add(-time.Microsecond))
		}
	}
	leftOut, rows, until := d.timer.Exclusion(first), 0, first
	count := 1
	for tick := first; tick.Before(last); count++ {
		if count >= MaxCounted {
			count, until = -1, last
			break
		}
		if tick = d.timer.Next(tick); tick.IsZero() {
			break
		}
		if why := d.timer.Exclusion(tick); (why != leftOut || d.task.SkipAt(tick) != nil) && rows < maxRuns {
			d.missedRow(first, until, count, leftOut)
			first, leftOut, count, rows = tick, why, 0, rows+1
		}
		until = tick
	}
	d.missedRow(first, until, count, leftOut)
}

// maxRuns is the greatest number of rows of one run of missed ticks.
const maxRuns = 1000

// missedRow records ticks from first to last as one row.
func (d *decider) missedRow(first, last time.Time, count int, leftOut string) {
	if d.task.SkipAt(first) != nil {
		d.settle(first)
		return
	}
	missed, until := count, last
	var tick *Tick
	switch {
	case d.paused.At(first) && !first.Before(d.paused.Since):
		tick = d.record(first, Skipped, CausePaused, d.paused.Note())
	case leftOut != "":
		if tick = d.record(first, Skipped, CauseCalendar, leftOut); count == 1 {
			missed, until = 0, time.Time{}
		}
	case first.Before(d.waited):
		tick = d.record(first, Skipped, CauseWaited, "")
	default:
		tick = d.record(first, Missed, d.missedBecause(last), "")
	}
	tick.Missed, tick.Until = missed, until
}

// missedBecause is why ticks up to last are missed, by the catchup policy.
func (d *decider) missedBecause(last time.Time) Cause {
	switch t := d.task; {
	case t.Catchup == CatchupAll:
		return CauseLimit
	case t.Catchup == CatchupNone && d.Now.Sub(last) > t.Grace:
		return CauseGrace
	}
	return CauseNewest
}
