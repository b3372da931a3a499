package hooks

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
)

// Event is what has happened.
type Event string

// The events.
const (
	Start   Event = "start"   // an attempt of a job begins
	Success Event = "success" // a job has succeeded
	Failure Event = "failure" // a job has failed for good
	Missed  Event = "missed"  // a tick got no job

	Recovered Event = "recovered" // a job has succeeded after others of its task had failed
	Paused    Event = "paused"    // so many have failed in a row that the task is paused

	AtRisk     Event = "at_risk"     // a tick is not expected to finish by the time that its task says
	FinishLate Event = "finish_late" // a tick has not finished by that time
)

// kinds are the kinds of hooks that hear of an event.
func (e Event) kinds() []Kind {
	switch e {
	case Start:
		return []Kind{OnPing}
	case Success:
		return []Kind{OnSuccess, OnPing, OnRecovered}
	case Failure:
		return []Kind{OnFailure, OnPing, OnPaused}
	case Missed:
		return []Kind{OnMissed}
	case AtRisk:
		return []Kind{OnAtRisk}
	case FinishLate:
		return []Kind{OnFinishLate}
	}
	return nil
}

// of is the event as hooks of a kind hear it: on_recovered hears of a recovery where on_success hears of a
// success.
func of(k Kind, e Event) Event {
	switch k {
	case OnRecovered:
		return Recovered
	case OnPaused:
		return Paused
	}
	return e
}

// EventOf is what the state of a job means; empty: nothing that a hook hears of.
func EventOf(s jobqueue.State) Event {
	switch s {
	case jobqueue.Running:
		return Start
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

// Notice is what a hook receives. Its JSON is what commands get on standard input, and
// what URLs are posted.
type Notice struct {
	ID      string    `json:"id"`   // of the event; the same if it is delivered twice
	Hook    string    `json:"hook"` // its place in the configuration
	Event   Event     `json:"event"`
	At      time.Time `json:"at"`                // when it happened, by the database's clock
	Task    string    `json:"task,omitempty"`    // id of the periodic task, or what the submitter gave as tracker
	Handler string    `json:"handler,omitempty"` // what the task runs
	Tick    *Tick     `json:"tick,omitempty"`
	Job     *Job      `json:"job,omitempty"`    // of Missed: none
	Error   string    `json:"error,omitempty"`  // of Failure and Paused; of AtRisk and FinishLate why
	Output  string    `json:"output,omitempty"` // the end of the job's log

	// Traceparent is that of the attempt, or of who submitted the job if attempts are
	// not traced, as the W3C's header has it.
	Traceparent string `json:"traceparent,omitempty"`

	// Turned is what the end of the job did to its task.
	Turned jobqueue.Turned `json:"turned,omitempty"`
}

// Tick is the tick that a job is for, or that got none.
type Tick struct {
	Due      time.Time  `json:"due"` // of missed ones the oldest
	Decision string     `json:"decision,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Missed   int        `json:"missed,omitempty"`    // how many; -1: more than 10,000
	Until    *time.Time `json:"until,omitempty"`     // of missed ones the newest
	FinishBy *time.Time `json:"finish_by,omitempty"` // of AtRisk and FinishLate
}

// Job is the job that begins or has ended.
type Job struct {
	ID        string     `json:"id"`
	State     string     `json:"state"`
	Attempt   int        `json:"attempt"`
	Group     string     `json:"group"`
	Subject   string     `json:"subject,omitempty"`
	Submitted time.Time  `json:"submitted"`
	Started   *time.Time `json:"started,omitempty"`
	Finished  *time.Time `json:"finished,omitempty"`
}

// OfJob is the notice of a job's state, and the last lines of its log.
func OfJob(j jobqueue.Job, at time.Time, lines []string) Notice {
	n := Notice{Event: EventOf(j.State), At: at, Task: j.Tracker, Handler: j.Task, Job: &Job{
		ID: j.JID, State: string(j.State), Attempt: j.Attempt(), Group: j.Group, Subject: j.Subject,
		Submitted: j.Submitted, Started: orNone(j.Started), Finished: orNone(j.Finished),
	}, Traceparent: j.Traceparent}
	if !j.Due.IsZero() {
		n.Tick = &Tick{Due: j.Due, Decision: "submitted"}
	}
	if n.Event == Failure {
		n.Error = text.Clean(j.Result, maxError)
	}
	if n.Event != Start {
		n.Output = ending(lines)
	}
	return n
}

func orNone(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// ending is the end of an output, whole lines as far as they fit.
func ending(lines []string) string {
	lines = lines[max(0, len(lines)-maxOutputLines):]
	size := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if size += len(lines[i]) + 1; size > maxOutputBytes {
			if i == len(lines)-1 {
				return text.Clean(lines[i], maxOutputBytes)
			}
			lines = lines[i+1:]
			break
		}
	}
	return strings.Join(lines, "\n")
}

// owner is what the events of one topic have in common: the task, or for jobs without a
// tick the handler. Their trackers may all differ, and topics stay.
func (n Notice) owner() string {
	if n.Task != "" && n.Tick != nil {
		return n.Task
	}
	return n.Handler
}

// subject is what a notice is about.
func (n Notice) subject() string {
	if n.Task != "" {
		return n.Task
	}
	return n.Handler
}

func (n Notice) json() string {
	b, err := json.Marshal(n)
	if err != nil { // a time beyond the year 9999
		return "{}"
	}
	return string(b)
}
