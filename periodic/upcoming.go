package periodic

import (
	"fmt"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/jobqueue"
)

// Upcoming is a tick to come.
type Upcoming struct {
	Task    *Task
	Due     time.Time // its nominal time
	NextRun time.Time // when it is submitted: Due and the jitter
	LeftOut string    // why a calendar leaves it out; empty: it does not
}

// Upcoming returns the next ticks of the task's timer whose Due is later than a
// time, at most n, within Starts and Ends, whether the task is enabled or not, and also those
// that its calendars leave out.
// It returns a *calendar.ParseError if the timer cannot be read.
func (t *Task) Upcoming(after time.Time, n int) ([]Upcoming, error) {
	future, err := t.future()
	if err != nil {
		return nil, err
	}
	var list []Upcoming
	for future.goTo(after); len(list) < n && !future.At.Due.IsZero(); future.advance() {
		list = append(list, future.At)
	}
	return list, nil
}

// future walks along the ticks of a task.
type future struct {
	At    Upcoming // zero Due: there is none any more
	timer timeline

	// Of a preview:
	manual bool // At was set by a user
}

// Schedule returns the ticks of the task: those of its timer between Starts and Ends, whether calendars or people leave
// them out or not. timer is what its Timer says; nil: Schedule parses it. Its errors are those of Upcoming.
func (t *Task) Schedule(timer calendar.Schedule) (calendar.Schedule, error) {
	if timer == nil {
		var err error
		if timer, err = calendar.ParseAt(t.Timer, t.Anchor()); err != nil {
			return nil, err
		}
	}
	return t.timeline(timer), nil
}

// future returns the ticks of the task; call goTo first. It returns an error that
// wraps a *calendar.ParseError if the timer cannot be read.
func (t *Task) future() (*future, error) {
	line, err := t.Schedule(nil)
	if err != nil {
		return nil, fmt.Errorf("task %q: %w", t.ID, err)
	}
	return &future{timer: line.(timeline), At: Upcoming{Task: t}}, nil
}

// goTo goes to the first tick that is later than a time.
func (f *future) goTo(after time.Time) { f.set(f.timer.Next(after)) }

// set goes to the tick at a time.
func (f *future) set(due time.Time) {
	f.At.Due, f.At.LeftOut = due, ""
	if !due.IsZero() {
		f.At.LeftOut = f.timer.Exclusion(due)
	}
	f.delay()
}

// advance goes to the tick after this one.
func (f *future) advance() { f.goTo(f.At.Due) }

// delay sets NextRun by the jitter.
func (f *future) delay() {
	f.At.NextRun = f.At.Due
	if !f.At.Due.IsZero() {
		f.At.NextRun = f.At.Due.Add(f.timer.Delay(f.At.Due))
	}
}

// Job returns the job of a tick of the task, to be submitted now.
func (t *Task) Job(jid string, due, now time.Time) jobqueue.Job {
	return jobqueue.Job{
		JID: jid, Task: t.Task, Group: t.Group, Args: t.Args, Subject: t.Subject,
		Submitted: now, Submitter: t.Submitter, Priority: t.Priority, State: jobqueue.Waiting,
		Tracker: t.ID, Due: due, Single: !t.Overlapping(),
	}
}
