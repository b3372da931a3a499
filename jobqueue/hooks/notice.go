package hooks

import (
	"time"

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
	Error   string    `json:"error,omitempty"`  // of Failure and Paused
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
	Missed   int        `json:"missed,omitempty"` // how many; -1: more than 10,000
	Until    *time.Time `json:"until,omitempty"`  // of missed ones the newest
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
