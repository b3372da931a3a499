package periodic

import (
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

// Plain reports whether a plan only submits the tick that its task was claimed for, and
// was made without regard to other jobs and ticks of the task. If a job of the task is
// pending by the time that the plan is used, the queue refuses the new one, and the tick
// is skipped as it would have been.
func (p *Plan) Plain() bool {
	t := p.Task
	return !t.Due.IsZero() && t.Pause.Since.IsZero() &&
		len(p.Ticks) == 1 && p.Ticks[0].Decision == Submitted && p.Ticks[0].Due.Equal(t.Due) && t.Days.Exclude == "" &&
		len(p.Settled) == 0 && p.Cancel == ""
}

// Lasts reports whether a plan that was made at a time holds at a later one. A process that stood still in between has to
// decide anew.
func (p *Plan) Lasts(made, now time.Time, validFor time.Duration) bool {
	t := p.Task
	if t.NextRun.After(made) {
		age := now.Sub(t.NextRun)
		return age >= 0 && age < validFor && now.Before(p.NextRun) && (t.Deadline == nil || age <= *t.Deadline) &&
			(t.Catchup != CatchupNone || age <= t.Grace)
	}
	age := now.Sub(made) // negative: the clock was set back
	return age >= 0 && age < validFor
}
