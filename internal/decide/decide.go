// Package decide says what becomes of the ticks of a task. It is pure, so scheduler and model decide alike.
package decide

import (
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/bounds"
	"github.com/nextrun/nextrun/internal/reasons"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Facts is what a decision depends on besides the task.
type Facts struct {
	Now     time.Time
	Pending *sink.Pending // a job of the task that is not final
	Queued  []time.Time   // due times of its queued ticks, oldest first
	Decided []Range       // recorded already since the tick that it was claimed for, oldest first, at most MaxDecided
	Worker  string        // who decides
	Delay   string        // why its ticks were not decided in time, if they were not; empty: no scheduler ran
	Most    int           // greatest number of ticks to decide; 0: 1,000
}

// Decide returns what becomes of a task that has been claimed: its ticks that
// are due, and when it is due next. It does no I/O; newID makes the id of a tick's job.
func Decide(t *periodic.Task, timer calendar.Schedule, f Facts, newID func(due time.Time) string) Plan {
	schedule, err := t.Schedule(timer)
	if err != nil {
		return Blocked(t, err)
	}
	d := decider{
		task: t, Facts: f, newID: newID, paused: t.Pause, timer: schedule.(line),
		plan: Plan{Task: t, Due: t.Due, NextRun: t.NextRun},
	}
	if t.Overlapping() {
		d.Pending = nil
	}
	if !t.Pause.At(f.Now) {
		d.takeQueued()
	}
	switch {
	case t.Unplanned():
		d.planAt(d.timer.Next(f.Now))
	case t.NextRun.After(f.Now): // claimed for a queued tick
	case t.Manual():
		d.plan.Manual = t.NextRun
		d.byHand(t.NextRun)
		d.elapsed(d.timer.Next(t.NextRun))
	default:
		d.claimed = t.Due // it is due because nextrun has come, even if the jitter was edited since
		d.elapsed(t.Due)
	}
	return d.plan
}

// line are the ticks of a task, as [periodic.Task.Schedule] returns them.
type line interface {
	calendar.Schedule
	Exclusion(due time.Time) string                  // why calendars or people leave out a tick; empty: they do not
	Delay(due time.Time) time.Duration               // how much later than its due a tick is submitted
	NewestDue(first, now time.Time) time.Time        // the latest tick not before first, which is due
	OldestKept(first, last, now time.Time) time.Time // of those, the oldest that is not missed; zero: all are
	Warning(planned bool) string                     // what is odd about the timer and the calendars
}

// decider holds a decision while it is made.
type decider struct {
	Facts
	task    *periodic.Task
	timer   line
	claimed time.Time // the planned tick that the task was claimed for
	newID   func(due time.Time) string
	paused  periodic.Pause
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
	kept := d.timer.OldestKept(first, last, d.Now)
	edge := last
	if d.task.Catchup == periodic.CatchupAll {
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
	case d.task.Catchup == periodic.CatchupAll:
		d.keep(kept)
		return
	case !kept.IsZero():
		d.current(kept)
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
		d.current(tick)
		tick = d.timer.Next(tick)
	}
	d.planAt(tick)
}

// knownUntil reports whether more ticks may be recorded than this decision knows,
// and up to which tick it knows them.
func (d *decider) knownUntil() (last time.Time, partly bool) {
	if len(d.Decided) < bounds.MaxDecided {
		return last, false
	}
	return d.Decided[len(d.Decided)-1].Last, true
}

func (d *decider) isDue(tick time.Time) bool {
	return tick.Equal(d.claimed) || !tick.Add(d.timer.Delay(tick)).After(d.Now)
}

// planAfter plans the first tick strictly after a time.
func (d *decider) planAfter(after time.Time) { d.planAt(d.timer.Next(after)) }

// planAt plans a tick; the zero time means never.
func (d *decider) planAt(tick time.Time) {
	if tick.IsZero() {
		d.plan.Due, d.plan.NextRun = periodic.Never, periodic.Never
		d.plan.Problem = d.timer.Warning(false)
		return
	}
	d.plan.Due, d.plan.NextRun = tick, tick.Add(d.timer.Delay(tick))
	d.plan.Problem = d.timer.Warning(true)
}

// byHand decides a tick that a user set, also while the task is paused. Queued ticks,
// which a pause keeps waiting, do not keep it from running.
func (d *decider) byHand(due time.Time) {
	pause, queued := d.task.Pause, d.Queued
	if pause.At(d.Now) {
		d.Queued = nil
	}
	d.paused = periodic.Pause{}
	d.current(due)
	if d.paused = pause; pause.At(d.Now) {
		d.Queued = append(queued, d.Queued...)
	}
}

// current decides the tick whose turn it is.
func (d *decider) current(due time.Time) {
	switch {
	case slices.ContainsFunc(d.Decided, func(r Range) bool { return r.First.Equal(due) }):
	case d.task.SkipAt(due) != nil:
		d.settle(due, periodic.Skipped, d.task.SkipAt(due).Text(), "")
	case !due.Equal(d.plan.Manual) && d.timer.Exclusion(due) != "":
		d.record(due, periodic.Skipped, d.timer.Exclusion(due), "")
	case d.paused.Skips(due, d.Now):
		d.record(due, periodic.Skipped, d.paused.Text(), "")
	case d.isLate(due):
		d.record(due, periodic.Late, lateReason(d.age(due), *d.task.Deadline), "")
	case d.Pending == nil && len(d.Queued) == 0:
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

// submit records a tick as submitted; its job is pending from now on.
func (d *decider) submit(due time.Time) {
	jid := d.newID(due)
	d.record(due, periodic.Submitted, "", jid)
	d.expect(jid, due)
}

func (d *decider) expect(jid string, due time.Time) {
	if !d.task.Overlapping() {
		d.Pending = &sink.Pending{JID: jid, State: jobqueue.Waiting, Due: due}
	}
}

// overlap decides a tick while a job of the task is not final.
func (d *decider) overlap(due time.Time) {
	switch d.task.Overlap {
	case periodic.OverlapQueue:
		d.queue(due, reasons.WaitReason(d.Pending, due, d.Now))
	case periodic.OverlapReplace:
		d.replace(due)
	default:
		d.record(due, periodic.Skipped, reasons.SkipReason(d.Pending, due, d.Now), "")
	}
}

// queue makes a tick wait: with CatchupAll behind the other queued ticks, otherwise
// instead of them.
func (d *decider) queue(due time.Time, reason string) {
	if d.task.Catchup == periodic.CatchupAll {
		if len(d.Queued) >= maxQueued {
			d.record(due, periodic.Skipped, fmt.Sprintf("%d ticks of the task are waiting already", maxQueued), "")
			return
		}
	} else {
		for _, older := range d.Queued {
			d.settle(older, periodic.Skipped, supersededReason(due), "")
		}
		d.Queued = nil
	}
	d.record(due, periodic.Queued, reason, "")
	d.Queued = append(d.Queued, due)
}

// replace puts a tick in the place of the pending job.
func (d *decider) replace(due time.Time) {
	for _, older := range d.Queued {
		d.settle(older, periodic.Skipped, supersededReason(due), "")
	}
	d.Queued = nil
	switch {
	case d.Pending == nil:
		d.submit(due)
	case d.isOwn(d.Pending.JID): // submitted by this decision, so not in the queue yet
		d.withdraw(d.Pending.JID, supersededReason(due))
		d.submit(due)
	case d.Pending.State == jobqueue.Waiting || d.Pending.State == jobqueue.Stuck:
		d.plan.Cancel = d.Pending.JID
		d.submit(due)
	default:
		d.plan.Cancel = d.Pending.JID
		d.record(due, periodic.Queued, replaceReason(d.Pending, due, d.Now), "")
		d.Queued = append(d.Queued, due)
	}
}

// takeQueued submits the oldest queued tick that is not late if no job of the
// task is pending: it goes before ticks that fall due now.
func (d *decider) takeQueued() {
	for len(d.Queued) > 0 && d.Pending == nil {
		due := d.Queued[0]
		d.Queued = d.Queued[1:]
		if d.isLate(due) {
			d.settle(due, periodic.Late, lateReason(d.age(due), *d.task.Deadline), "")
			continue
		}
		jid := d.newID(due)
		d.settle(due, periodic.Submitted, "", jid)
		d.expect(jid, due)
	}
}
