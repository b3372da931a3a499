package view

import (
	"time"

	"github.com/nextrun/nextrun/calendar"
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
	OK        State = "success"
)

// Code names something to know about a task or a job: package why has all codes, and their words. It stays the same when
// the words change.
type Code string

// The codes of what needs attention, in the order in which they count.
const (
	TaskProblem Code = "task_problem"
	TaskOverdue Code = "task_overdue"
	TaskPaused  Code = "task_paused" // after failures: a task that somebody has paused needs no attention
	RunFailed   Code = "run_failed"
	TickMissed  Code = "tick_missed" // or late
	TaskStale   Code = "task_stale"
	TaskWarning Code = "task_warning"
)

// Status is how a task is doing. What lists, counts or colours tasks shows it; [periodic.TaskAttention] selects
// those that have a cause.
type Status struct {
	State    State
	Cause    Code      // why it needs attention; empty: it does not
	Since    time.Time // since when it does, as far as that is known
	Failures int       // runs that failed one after the other, or ticks that were missed or late
	Next     time.Time // when it runs next; zero: never, or nobody knows
}

// Judged is how many of its newest runs a task is judged by.
const Judged = 10

// Task is a task, with what its status follows from.
type Task struct {
	*periodic.Task

	Runs   []Run     // the newest first
	Older  *Run      // the newest run that was submitted, if it is older than these
	Streak Streak    // of runs that went wrong; zero: none did, or it was not read
	Edited time.Time // when somebody last changed what its plan follows from
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
func (t *Task) Status() Status {
	s := Status{State: t.state(), Next: t.next(), Failures: t.Streak.Failed}
	switch ended := t.ended(); {
	case !t.Enabled:
	case t.Blocked() != "":
		s.Cause = TaskProblem
	case t.Overdue() > 0:
		s.Cause, s.Since = TaskOverdue, t.due()
	case t.Pause.AfterFailures():
		s.Cause, s.Since = TaskPaused, t.Pause.Since
	case t.Pause.At(t.Now):
	case ended == Failed:
		s.Cause, s.Since = RunFailed, t.Streak.Since
	case ended == Missed, ended == Late:
		s.Cause, s.Since, s.Failures = TickMissed, t.Streak.Since, t.Streak.Lost
	case t.Stale != nil:
		s.Cause, s.Since = TaskStale, t.Stale.Expected
	}
	if s.Cause == "" && t.Enabled && t.Problem != "" {
		s.Cause = TaskWarning
	}
	return s
}

func (t *Task) state() State {
	switch ended := t.ended(); {
	case !t.Enabled:
		return Disabled
	case t.Blocked() != "":
		return Blocked
	case t.Pause.At(t.Now):
		return Paused
	case t.Overdue() > 0:
		return Overdue
	case ended != "" && ended != OK:
		return ended
	}
	last, does, never := t.Last(), New, !t.NextRun.Before(periodic.Never)
	if last != nil {
		does = last.does()
	}
	switch {
	case does == Running || does == Retrying || does == Waiting && !never:
		return does
	case never && !t.Ends.IsZero() && !t.Ends.After(t.Now):
		return Ended
	case never && t.Timer != calendar.Never:
		return Never
	case t.Waits:
		return Waiting
	case last == nil && len(t.Runs) > 0:
		return Skipped
	}
	return does
}

// does is what becomes of a run that was submitted.
func (r *Run) does() State {
	switch r.State {
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
	return State(r.State)
}

// Last is the newest run that was submitted; nil: there is none.
func (t *Task) Last() *Run {
	for i := range t.Runs {
		if t.Runs[i].Decision == periodic.Submitted {
			return &t.Runs[i]
		}
	}
	return t.Older
}

// Success is when the newest run ended of which it is known that it succeeded; zero: none is known.
func (t *Task) Success() time.Time {
	for i := range t.Runs {
		if t.Runs[i].State == "success" {
			return t.Runs[i].Finished
		}
	}
	return t.Streak.Ended
}

// ended is what became of the newest tick that ended well or not; empty: none of the newest ones did.
func (t *Task) ended() State {
	for _, r := range t.Runs[:min(len(t.Runs), Judged)] {
		switch o := r.Outcome(); o {
		case "success":
			return OK
		case "failed", "missed", "late":
			return State(o)
		}
	}
	return ""
}

// due is since when the task is due, or to be planned.
func (t *Task) due() time.Time {
	if t.Edited.After(t.NextRun) {
		return t.Edited
	}
	return t.NextRun
}

// Overdue is for how long a scheduler should have taken the task; 0: none should have.
func (t *Task) Overdue() time.Duration {
	if late := t.Late(); t.Enabled && !t.Waits && late >= periodic.OverdueAfter {
		return late
	}
	return 0
}

// Late is for how long the task has been due, or has to be planned.
func (t *Task) Late() time.Duration { return t.Now.Sub(t.due()) }

// next is the next run that no pause and no calendar leaves out.
func (t *Task) next() time.Time {
	switch p := t.Pause; {
	case !t.Enabled, t.Blocked() != "", t.Unplanned(), !t.NextRun.Before(periodic.Never), p.At(t.Now) && p.Until.IsZero():
		return time.Time{}
	case t.Days.Empty() && !p.At(t.NextRun):
		return t.NextRun
	}
	for u := range periodic.Preview([]periodic.Task{*t.Task}, t.Now, t.Now.AddDate(1, 0, 0)) {
		return u.NextRun
	}
	return time.Time{}
}
