package periodic

import (
	"fmt"
	"time"

	"github.com/nextrun/nextrun/periodic/reasons"
)

// maxCatchup is the greatest number of ticks of one task in one batch.
const maxCatchup = 100

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

// The reasons of periodic_tick, in words for people. Times are UTC. A tick that is
// decided before its time has the reason that holds when it is due.

func supersededReason(due time.Time) string {
	return "the tick of " + due.UTC().Format("2006-01-02 15:04:05") + " took its place"
}

// heldReason is why ticks that waited for the end of a job did not run: a newer one did.
var heldReason = because{CauseWaited, "waited for the end of the job before it; a later tick took its place"}

func lateReason(age, deadline time.Duration) string {
	if deadline <= 0 {
		return "the deadline is 0 s, so every tick is late"
	}
	return fmt.Sprintf("decided %s after its time; the deadline is %s", reasons.Span(age), reasons.Span(deadline))
}

func missedReason(t *Task, count int, age time.Duration, delay string) because {
	if delay == "" {
		delay = "no scheduler ran in time"
	}
	switch {
	case t.Catchup == CatchupNone && age <= t.Grace:
		return because{CauseNewest, delay + "; of these only the newest tick counts, because catchup is none"}
	case t.Catchup == CatchupNone:
		return because{CauseGrace, fmt.Sprintf("%s; the newest tick was %s old, and the grace is %s", delay, reasons.Span(age), reasons.Span(t.Grace))}
	case t.Catchup == CatchupAll:
		return because{CauseLimit, fmt.Sprintf("%s; only the newest %d of the missed ticks are submitted, its catchup_limit", delay, t.CatchupLimit)}
	case count == 1:
		return because{CauseNewest, delay + "; one catch-up tick replaces it"}
	}
	return because{CauseNewest, delay + "; one catch-up tick replaces them"}
}
