package periodic

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Decide returns what becomes of a task: its ticks that are due, and when it is due next. A task whose turn waits for the
// end of a job keeps its plan. It does no I/O; newID makes the id of a tick's job.
func (t *Task) Decide(timer calendar.Schedule, f Facts, newID func(due time.Time) string) Plan {
	d := decider{
		task: t, Facts: f, newID: newID, paused: t.Pause, timer: t.timeline(timer),
		plan: Plan{Task: t, Due: t.Due, NextRun: t.NextRun},
	}
	if t.Overlapping() {
		d.Pending, d.Ended = nil, time.Time{}
	}
	switch {
	case t.Unplanned():
		d.planAt(d.timer.Next(d.since()))
	case t.NextRun.After(f.Now): // not due
	case t.Manual():
		d.plan.Manual = t.NextRun
		d.byHand(t.NextRun)
		d.elapsed(d.timer.Next(d.afterEdit(t.NextRun)))
	case t.vanished(timer, f.Now):
		d.elapsed(d.anew())
	default:
		d.planned = t.Due // it is due because nextrun has come, even if the jitter was edited since
		d.elapsed(t.Due)
	}
	if d.held && !d.submits() { // what is to be recorded follows from the tick that runs once the job has ended
		return Plan{Task: t, Due: t.Due, NextRun: t.NextRun, Problem: t.Problem, Cancel: d.plan.Cancel, Held: true}
	}
	return d.plan
}

// since is the time after which a task without a plan is planned: when it was added, or its last edit, whenever a scheduler gets
// to it, so that no tick in between is lost. If the clock was set back, it is the present.
func (d *decider) since() time.Time {
	if since := d.task.Since; !since.IsZero() && since.Before(d.Now) {
		return since
	}
	return d.Now
}

// afterEdit is a time or, if that is later, the time of the last edit: what an edit replaced does not come back.
func (d *decider) afterEdit(at time.Time) time.Time {
	if since := d.task.Since; since.After(at) && !since.After(d.Now) {
		return since
	}
	return at
}

// submits reports whether the plan submits a job.
func (d *decider) submits() bool {
	return slices.ContainsFunc(d.plan.Ticks, func(t Tick) bool { return t.Decision == Submitted })
}

// decider holds a decision while it is made.
type decider struct {
	Facts
	task    *Task
	timer   timeline
	planned time.Time // the tick whose time has come
	newID   func(due time.Time) string
	paused  Pause
	held    bool      // a tick waits for the end of a job
	waited  time.Time // the ticks before then have waited for a job, and another one takes their place; zero: none has
	plan    Plan
}

// elapsed decides the ticks of the timer from first on, as far as they are due,
// and plans the one after them.
func (d *decider) elapsed(first time.Time) {
	if first.IsZero() || !d.isDue(first) {
		d.planAt(first)
		return
	}
	last := d.timer.NewestDue(first, d.Now)
	kept := d.timer.OldestKept(first, last, d.Now, d.Ended)
	if !kept.IsZero() {
		d.waited = d.Ended
	}
	edge := last
	if d.task.Catchup == CatchupAll {
		edge = kept
	}
	if known, partly := d.knownUntil(); partly && known.Before(edge) {
		// There may be more recorded ticks than were read: go up to the last of
		// those now, and on from there in the next batch.
		d.missed(first, known)
		d.planAfter(known)
		return
	}
	switch {
	case kept.IsZero():
		d.missed(first, last)
	case kept.After(first): // which may be none of the timer's times, if another version planned it
		before := d.timer.Prev(kept)
		if before.Before(first) {
			before = first
		}
		d.missed(first, before)
	}
	switch {
	case d.task.Catchup == CatchupAll:
		d.keep(kept)
		return
	case !kept.IsZero():
		if d.current(kept); d.held {
			d.planAt(kept)
			return
		}
		if last.After(kept) { // calendars leave these out
			d.missed(d.timer.Next(kept), last)
		}
	}
	d.planAfter(last)
}

// keep decides the ticks from a due one on, as far as they are due, and plans the one after them.
func (d *decider) keep(tick time.Time) {
	most := maxCatchup
	if d.Most > 0 {
		most = min(most, d.Most)
	}
	for n := 0; n < most && !tick.IsZero() && d.isDue(tick); n++ {
		if d.current(tick); d.held {
			break
		}
		tick = d.timer.Next(tick)
	}
	d.planAt(tick)
}

// knownUntil reports whether more ticks may be recorded than this decision knows,
// and up to which tick it knows them.
func (d *decider) knownUntil() (last time.Time, partly bool) {
	if len(d.Decided) < MaxDecided {
		return last, false
	}
	return d.Decided[len(d.Decided)-1].Last, true
}

func (d *decider) isDue(tick time.Time) bool {
	return tick.Equal(d.planned) || !tick.Add(d.timer.Delay(tick)).After(d.Now)
}

// planAfter plans the first tick strictly after a time.
func (d *decider) planAfter(after time.Time) { d.planAt(d.timer.Next(after)) }

// planAt plans a tick; the zero time means never.
func (d *decider) planAt(tick time.Time) {
	if tick.IsZero() {
		d.plan.Due, d.plan.NextRun = Never, Never
		d.plan.Problem = d.timer.Warning(false)
		return
	}
	d.plan.Due, d.plan.NextRun = tick, tick.Add(d.timer.Delay(tick))
	d.plan.Problem = d.timer.Warning(true)
}

// byHand decides a tick that a user set, also while the task is paused.
func (d *decider) byHand(due time.Time) {
	d.paused = Pause{}
	d.current(due)
	d.paused = d.task.Pause
}

// current decides the tick whose turn it is.
func (d *decider) current(due time.Time) {
	switch {
	case slices.ContainsFunc(d.Decided, func(r Range) bool { return r.First.Equal(due) }):
	case d.task.SkipAt(due) != nil:
		d.settle(due)
	case !due.Equal(d.plan.Manual) && d.timer.Exclusion(due) != "":
		d.record(due, Skipped, CauseCalendar, d.timer.Exclusion(due))
	case d.paused.Skips(due, d.Now):
		d.record(due, Skipped, CausePaused, d.paused.Note())
	case d.isLate(due):
		d.record(due, Late, CauseDeadline, "")
	case d.Pending == nil:
		d.submit(due)
	default:
		d.overlap(due)
	}
}

func (d *decider) isLate(due time.Time) bool {
	return d.task.Deadline != nil && d.age(due) > *d.task.Deadline
}

// age is for how long a tick could have been submitted.
func (d *decider) age(due time.Time) time.Duration {
	if due.Equal(d.plan.Manual) {
		return d.Now.Sub(due)
	}
	return d.Now.Sub(due.Add(d.timer.Delay(due)))
}

// submit records a tick as submitted; its job is pending from now on. One that a user set at a time of the timer is not by
// hand: other programs plan tasks, too.
func (d *decider) submit(due time.Time) {
	var cause Cause
	if due.Equal(d.plan.Manual) && !d.timer.Next(due.Add(-time.Microsecond)).Equal(due) {
		cause = CauseByHand
	}
	tick := d.record(due, Submitted, cause, "")
	tick.JID = d.newID(due)
	if most := d.task.Deadline; most != nil && d.plan.until.IsZero() { // the first tick of a plan is the oldest
		d.plan.until = d.Now.Add(*most - d.age(due))
	}
	if !d.task.Overlapping() {
		d.Pending = &sink.Pending{JID: tick.JID, State: jobqueue.Waiting, Due: due}
	}
}

// overlap decides a tick while a job of the task is not final. A job that no worker has yet is replaced at once.
func (d *decider) overlap(due time.Time) {
	p := d.Pending
	switch {
	case d.task.Overlap == OverlapQueue:
		d.held = true
	case d.task.Overlap != OverlapReplace:
		d.record(due, Skipped, CauseOverlap, "")
	case d.withdraw(p.JID): // submitted by this decision, so not in the queue yet
		d.submit(due)
	default:
		d.plan.Cancel = p.JID
		if d.held = p.State != jobqueue.Waiting && p.State != jobqueue.Stuck; !d.held {
			d.submit(due)
		}
	}
}
