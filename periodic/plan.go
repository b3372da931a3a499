package periodic

import (
	"time"
)

// Plan is what a scheduler has decided for one task.
type Plan struct {
	Task       *Task
	Due        time.Time // the next tick, or Never
	NextRun    time.Time // Due and its jitter
	Problem    string
	Ticks      []Tick    // to add, oldest first
	Settled    []Tick    // queued ticks that are decided now
	Cancel     string    // id of a pending job to cancel (OverlapReplace)
	Manual     time.Time // the tick that a user set and that is decided here; zero: none
	ProbeUntil time.Time // the tick is a probe after failures, and no other one is until then; zero: it is none
	TickCount  int       // Ticks of the task, and those of the plan, where MaxTicks is set
}

// A plan may be made before its time, as if the tick of its task were due already.
// These methods say whether it can be used then without asking the database again.

// Plain reports whether a plan only submits the tick that its task was claimed for, and
// was made without regard to other jobs and ticks of the task. If a job of the task is
// pending by the time that the plan is used, the queue refuses the new one, and the tick
// is skipped as it would have been.
func (p *Plan) Plain() bool {
	t := p.Task
	return !t.Due.IsZero() && t.Pause.Since.IsZero() && !t.Queues() &&
		len(p.Ticks) == 1 && p.Ticks[0].Decision == Submitted && p.Ticks[0].Due.Equal(t.Due) && p.Ticks[0].Nominal.IsZero() &&
		len(p.Settled) == 0 && p.Cancel == ""
}

// Lasts reports whether a plan that is plain is the same at a later time: its tick is
// due, and neither late nor followed by another one that is due.
func (p *Plan) Lasts(now time.Time) bool {
	t := p.Task
	age := now.Sub(t.Due) - t.offset(t.Due, p.Due)
	return !now.Before(t.NextRun) && now.Before(p.NextRun) &&
		(t.Deadline == nil || age <= *t.Deadline) && (t.Catchup != CatchupNone || age <= t.Grace)
}

// Uncount takes back that the plan submits ticks that count for MaxTicks. If the task has ended with
// them, it is planned anew.
func (p *Plan) Uncount(n int) {
	if p.Task.Pace.MaxTicks == 0 {
		return
	}
	if p.TickCount -= n; !p.NextRun.Before(Never) {
		p.Due, p.NextRun = time.Time{}, Unplanned
	}
}

// ended reports whether the task has had all its ticks.
func (p *Plan) ended() bool {
	return p.Task.Pace.MaxTicks > 0 && p.TickCount >= p.Task.Pace.MaxTicks
}

// clearFinishBy notes that the newest tick of the plan need not finish: people or calendars leave it out.
func (p *Plan) clearFinishBy() { p.Ticks[len(p.Ticks)-1].FinishBy = time.Time{} }
