package periodic

import (
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/jobqueue"
)

// Upcoming is a tick to come.
type Upcoming struct {
	Task    *Task
	Due     time.Time // its nominal time
	NextRun time.Time // when it is submitted: Due and the jitter
}

// Upcoming returns the next ticks of the task's timer whose Due is later than a
// time, at most n, within Starts and Ends, whether the task is enabled or not.
// It returns a *calendar.ParseError if the timer cannot be read.
func (t *Task) Upcoming(after time.Time, n int) ([]Upcoming, error) {
	future, err := t.future()
	if err != nil {
		return nil, err
	}
	var list []Upcoming
	for future.goTo(after); len(list) < n && !future.at.Due.IsZero(); future.advance() {
		list = append(list, future.at)
	}
	return list, nil
}

// future walks along the ticks of a task.
type future struct {
	timer bounded
	at    Upcoming // zero Due: there is none any more
}

func (t *Task) future() (*future, error) {
	schedule, err := calendar.ParseAt(t.Timer, t.anchor())
	if err != nil {
		return nil, about(t.ID, err)
	}
	return &future{
		timer: bounded{Schedule: schedule, starts: t.Starts, ends: t.Ends},
		at:    Upcoming{Task: t},
	}, nil
}

// goTo goes to the first tick that is later than a time.
func (f *future) goTo(after time.Time) {
	f.at.Due = f.timer.Next(after)
	f.delay()
}

func (f *future) advance() { f.goTo(f.at.Due) }

// delay sets NextRun by the jitter.
func (f *future) delay() {
	t := f.at.Task
	f.at.NextRun = f.at.Due
	if t.Jitter > 0 && !f.at.Due.IsZero() {
		f.at.NextRun = f.at.Due.Add(jitter(t.ID, f.at.Due, f.timer.Next(f.at.Due), t.Jitter))
	}
}

// Job returns the job of a tick of the task, to be submitted now.
func (t *Task) Job(jid string, due, now time.Time) jobqueue.Job {
	job := t.job(Tick{JID: jid, Due: due}, now)
	job.Args = t.Args
	return job
}
