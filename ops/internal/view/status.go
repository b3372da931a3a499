package view

import (
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// State is how a task is doing, in a word or two.
type State string

// The states of tasks.
const (
	Disabled  State = "disabled"
	Blocked   State = "blocked" // its row has a problem that keeps it from running
	Paused    State = "paused"
	Overdue   State = "overdue" // no scheduler has taken it in time
	Failed    State = "failed"  // the newest run that ended did
	Missed    State = "missed"  // likewise
	Late      State = "late"
	Running   State = "running"
	Retrying  State = "retrying"
	Waiting   State = "waiting" // for an executor or a relay, or for the end of a job
	Ended     State = "ended"   // its time `ends` has passed
	Never     State = "never elapses"
	New       State = "not run yet"
	Skipped   State = "skipped" // so were all of its ticks
	Submitted State = "submitted"
	Cancelled State = "cancelled"
	Unknown   State = "unknown" // nobody knows how its last run ended
	OK        State = "ok"
)

// Cause is why a task needs attention: a code of package why.
type Cause string

// The causes, in the order in which they count.
const (
	CauseProblem Cause = "task_problem"
	CauseOverdue Cause = "task_overdue"
	CausePaused  Cause = "task_paused" // after failures: a task that somebody has paused needs no attention
	CauseFailed  Cause = "run_failed"
	CauseMissed  Cause = "tick_missed" // or late
	CauseStale   Cause = "task_stale"
	CauseWarning Cause = "task_warning"
)

// Status is how a task is doing. What lists, counts or colours tasks shows it; [periodic.TaskAttention] selects
// those that have a cause.
type Status struct {
	State    State
	Cause    Cause     // why it needs attention; empty: it does not
	Since    time.Time // since when it does, as far as that is known
	Failures int       // runs that failed one after the other, or ticks that were missed or late
	Next     time.Time // when it runs next; zero: never, or nobody knows
}

// Judged is how many of its newest runs a task is judged by.
const Judged = 10

// Facts is what the status of a task follows from.
type Facts struct {
	Task   *periodic.Task
	Runs   []Run     // the newest first
	Before *Run      // the newest run that was submitted, if it is older than these
	Streak Streak    // of runs that went wrong; zero: none did, or it was not read
	Since  time.Time // when somebody last changed what its plan follows from
	Waits  bool      // its tick waits for the end of a job
	Stale  *Stale    // nil: all is done that must be done by now
	Now    time.Time
}

// Stale is a task of which no run has succeeded in time: a row of the view periodic_stale.
type Stale struct {
	Expected time.Time // when the newest tick was due that must have succeeded by now
	Success  time.Time // when the last run succeeded; zero: none did
}

// Status is how the task is doing.
func (f *Facts) Status() Status {
	s := Status{State: f.state(), Cause: f.cause(), Next: f.next(), Failures: max(f.Streak.Failed, f.failures())}
	switch s.Cause {
	case CauseOverdue:
		s.Since = f.due()
	case CausePaused:
		s.Since = f.Task.Pause.Since
	case CauseFailed:
		s.Since = f.Streak.Since
	case CauseMissed:
		s.Since, s.Failures = f.Streak.Since, f.Streak.Lost
	case CauseStale:
		s.Since = f.Stale.Expected
	}
	return s
}

func (f *Facts) cause() Cause {
	t := f.Task
	switch ended := f.ended(); {
	case !t.Enabled:
		return ""
	case t.Blocked() != "":
		return CauseProblem
	case f.Overdue() > 0:
		return CauseOverdue
	case t.Pause.AfterFailures():
		return CausePaused
	case t.Pause.At(f.Now):
	case ended == Failed:
		return CauseFailed
	case ended == Missed, ended == Late:
		return CauseMissed
	case f.Stale != nil:
		return CauseStale
	}
	if t.Problem != "" {
		return CauseWarning
	}
	return ""
}

func (f *Facts) state() State {
	t := f.Task
	switch ended := f.ended(); {
	case !t.Enabled:
		return Disabled
	case t.Blocked() != "":
		return Blocked
	case t.Pause.At(f.Now):
		return Paused
	case f.Overdue() > 0:
		return Overdue
	case ended != "" && ended != OK:
		return ended
	}
	last, never := f.Last(), !t.NextRun.Before(periodic.Never)
	switch does := f.does(last); {
	case does == Running || does == Retrying || does == Waiting && !never:
		return does
	case never && !t.Ends.IsZero() && !t.Ends.After(f.Now):
		return Ended
	case never:
		return Never
	case f.Waits:
		return Waiting
	case last == nil && len(f.Runs) > 0:
		return Skipped
	default:
		return does
	}
}

// does is what became of the last run.
func (f *Facts) does(last *Run) State {
	if last == nil {
		return New
	}
	switch last.State {
	case "running", "scheduled":
		return Running
	case "stuck":
		return Retrying
	case "waiting", "pending":
		return Waiting
	case "success":
		return OK
	case "":
		return Submitted
	}
	return State(last.State)
}

// Last is the newest run that was submitted; nil: there is none.
func (f *Facts) Last() *Run {
	for i := range f.Runs {
		if f.Runs[i].Decision == periodic.Submitted {
			return &f.Runs[i]
		}
	}
	return f.Before
}

// Success is when the newest run ended of which it is known that it succeeded; zero: none is known.
func (f *Facts) Success() time.Time {
	for i := range f.Runs {
		if f.Runs[i].State == "success" {
			return f.Runs[i].Finished
		}
	}
	return f.Streak.Ended
}

// ended is what became of the newest tick that ended well or not; empty: none of the newest ones did.
func (f *Facts) ended() State {
	for _, r := range f.Runs[:min(len(f.Runs), Judged)] {
		switch o := r.Outcome(); o {
		case "success":
			return OK
		case "failed", "missed", "late":
			return State(o)
		}
	}
	return ""
}

// failures counts the newest runs that failed. Those that have not ended are passed over.
func (f *Facts) failures() (n int) {
	for i := range f.Runs {
		switch f.Runs[i].State {
		case "failed":
			n++
		case "success", "cancelled":
			return n
		}
	}
	return n
}

// due is since when the task is due, or to be planned.
func (f *Facts) due() time.Time {
	if f.Since.After(f.Task.NextRun) {
		return f.Since
	}
	return f.Task.NextRun
}

// Overdue is for how long a scheduler should have taken the task; 0: none should have.
func (f *Facts) Overdue() time.Duration {
	if late := f.Late(); f.Task.Enabled && !f.Waits && late >= periodic.OverdueAfter {
		return late
	}
	return 0
}

// Late is for how long the task has been due, or has to be planned.
func (f *Facts) Late() time.Duration { return f.Now.Sub(f.due()) }

// next is the next run that no pause and no calendar leaves out.
func (f *Facts) next() time.Time {
	t, p := f.Task, f.Task.Pause
	switch {
	case !t.Enabled, t.Blocked() != "", t.Unplanned(), !t.NextRun.Before(periodic.Never), p.At(f.Now) && p.Until.IsZero():
		return time.Time{}
	case t.Days.Empty() && !p.At(t.NextRun):
		return t.NextRun
	}
	for u := range periodic.Preview([]periodic.Task{*t}, f.Now, f.Now.AddDate(1, 0, 0)) {
		return u.NextRun
	}
	return time.Time{}
}
