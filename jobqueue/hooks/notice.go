package hooks

import (
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
)

// Event is what has happened.
type Event string

// The events.
const (
	Success Event = "success" // a job has succeeded
	Failure Event = "failure" // a job has failed for good
	Missed  Event = "missed"  // a tick got no job

	Recovered Event = "recovered" // a job has succeeded after others of its task had failed
	Paused    Event = "paused"    // so many have failed in a row that the task is paused
)

// Notice is what a hook receives. Its JSON is what commands get on standard input, and
// what URLs are posted.
type Notice struct {
	ID      string    `json:"id"`   // of the job that delivers it; the same if it comes twice
	Hook    string    `json:"hook"` // its place in the configuration
	Event   Event     `json:"event"`
	At      time.Time `json:"at"`                // when it happened, by the database's clock
	Task    string    `json:"task,omitempty"`    // id of the periodic task, or what the submitter gave as tracker
	Handler string    `json:"handler,omitempty"` // what the task runs
	Tick    *Tick     `json:"tick,omitempty"`
	Job     *Job      `json:"job,omitempty"`    // of Missed and Paused: none
	Error   string    `json:"error,omitempty"`  // of Failure and Paused
	Output  string    `json:"output,omitempty"` // the end of the job's log

	// Traceparent is that of the attempt, or of who submitted the job if attempts are
	// not traced, as the W3C's header has it.
	Traceparent string `json:"traceparent,omitempty"`

	// Turned is what the end of the job meant for its task.
	Turned jobqueue.Turned `json:"turned,omitempty"`
}

// Tick is the tick that a job is for, or that got none.
type Tick struct {
	Due      time.Time `json:"due"` // of missed ones the oldest
	Decision string    `json:"decision,omitempty"`
	Cause    string    `json:"cause,omitempty"` // why, as a code: a periodic.Cause
	Reason   string    `json:"reason,omitempty"`
	Missed   int       `json:"missed,omitempty"` // how many; -1: more than 10,000
	Until    time.Time `json:"until,omitzero"`   // of missed ones the newest
}

// Job is the job that has ended.
type Job struct {
	ID        string    `json:"id"`
	State     string    `json:"state"`
	Attempt   int       `json:"attempt"`
	Group     string    `json:"group"`
	Subject   string    `json:"subject,omitempty"`
	Submitted time.Time `json:"submitted"`
	Started   time.Time `json:"started,omitzero"`
	Finished  time.Time `json:"finished,omitzero"`
}

// EventOf is what the state of a job means; empty: nothing that a hook hears of.
func EventOf(s jobqueue.State) Event {
	switch s {
	case jobqueue.Success:
		return Success
	case jobqueue.Failed:
		return Failure
	}
	return ""
}

// Bounds of the end of the output in a [Notice].
const (
	maxOutputLines = 50
	maxOutputBytes = 8 << 10
	maxError       = 2 << 10
)

// OfJob is the notice of the end of a job, and the last lines of its log.
func OfJob(j jobqueue.Job, at time.Time, lines []string) Notice {
	n := Notice{Event: EventOf(j.State), At: at, Task: j.Tracker, Handler: j.Task, Job: &Job{
		ID: j.JID, State: string(j.State), Attempt: j.Attempt(), Group: j.Group, Subject: j.Subject,
		Submitted: j.Submitted, Started: j.Started, Finished: j.Finished,
	}, Output: ending(lines), Traceparent: j.Traceparent}
	if !j.Due.IsZero() {
		n.Tick = &Tick{Due: j.Due, Decision: "submitted"}
	}
	if n.Event == Failure {
		n.Error = text.Clean(j.Result, maxError)
	}
	return n
}

// ending is the end of an output.
func ending(lines []string) string {
	output := strings.Join(lines[max(0, len(lines)-maxOutputLines):], "\n")
	return strings.ToValidUTF8(output[max(0, len(output)-maxOutputBytes):], "")
}

// asJob is the job of a notice as a handler's command would get it, with the notice as
// its args.
func (n Notice) asJob() jobqueue.Job {
	j := jobqueue.Job{Task: n.Handler, Tracker: n.Task, Args: text.JSON(n)}
	if n.Tick != nil {
		j.Due = n.Tick.Due
	}
	if n.Job != nil {
		j.JID, j.Group, j.Subject, j.Retries = n.Job.ID, n.Job.Group, n.Job.Subject, n.Job.Attempt-1
	}
	return j
}
