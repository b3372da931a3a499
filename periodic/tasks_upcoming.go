package periodic

import (
	"fmt"
	"iter"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/jobqueue"
)

// Upcoming is a tick to come.
type Upcoming struct {
	Due     time.Time // its nominal time
	NextRun time.Time // when it is submitted: Due and the jitter
}

// Upcoming returns the ticks of the task's timer whose Due is later than a
// time, earliest first, within Starts and Ends, whether it is enabled or not.
// It returns a *calendar.ParseError if the timer cannot be read.
func (t *Task) Upcoming(after time.Time) (iter.Seq[Upcoming], error) {
	schedule, err := calendar.ParseAt(t.Timer, t.anchor())
	if err != nil {
		return nil, fmt.Errorf("timer of task %q: %w", t.ID, err)
	}
	timer := bounded{Schedule: schedule, starts: t.Starts, ends: t.Ends}
	return func(yield func(Upcoming) bool) {
		for due := timer.Next(after); !due.IsZero(); {
			following := timer.Next(due)
			if !yield(Upcoming{Due: due, NextRun: due.Add(jitter(t.ID, due, following, t.Jitter))}) {
				return
			}
			due = following
		}
	}, nil
}

// Job returns the job of a tick of the task, to be submitted now.
func (t *Task) Job(jid string, due, now time.Time) jobqueue.Job {
	job := t.job(Tick{JID: jid, Due: due}, now)
	job.Args = t.Args
	return job
}
