// Package exchange has what an executor and its database tell each other: an executor sends a [Request], which is
// carried out in one transaction, and gets a [Result]. Both are plain data. A [Claim] says which jobs it takes.
package exchange

import (
	"context"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
)

// Service is what an executor tells others about itself, so that they can explain what a
// job waits for.
type Service struct {
	Worker   string   // name@boot id
	Places   int      // how many jobs it runs at once
	Groups   []string // it takes jobs of these groups only; empty: of all
	Handlers []HandlerLimits
}

// HandlerLimits are the limits of a handler, as far as others need them.
type HandlerLimits struct {
	Name     string `json:"name"`
	Attempts int    `json:"attempts"` // how often it tries a failing job at most
}

// Request is what a worker wants done in one transaction: in the order of the fields, but lines are
// written last.
type Request struct {
	Worker      string     // name@boot id
	Lines       []Line     // for the job log, in order; dropped if the job is gone
	Progress    []Progress // of running jobs
	Transitions []Transition
	Compare     bool     // jobs that run under the worker's id, other than InFlight, go back to waiting, or are cancelled if somebody asked for that
	InFlight    []string // with Compare: the jobs that the worker has
	Claim       Claim
	Brief       bool  // somebody holds a lock: wait for locks for a few milliseconds only
	Hooks       Hooks // hear of jobs that end here; nil: nobody does
}

// Empty reports whether there is nothing to do.
func (r *Request) Empty() bool {
	return len(r.Lines)+len(r.Progress)+len(r.Transitions) == 0 && !r.Compare && r.Claim.Limit == 0
}

// Progress is how far a running job is.
type Progress struct {
	JID     string
	Percent int // 0 to 100
}

// Transition moves a job from scheduled, running or stuck to another state, or ends
// the wait of a waiting job for its time. A job that somebody asked to cancel does not go
// to waiting or stuck.
type Transition struct {
	JID    string
	From   jobqueue.State // scheduled, running, stuck, or waiting with a time of retry
	Worker string         // who has the job; empty: no worker
	Dead   bool           // the worker is taken for dead: only if its beat is still Beat, and nobody holds its row
	Beat   int64

	To          jobqueue.State
	Result      string        // for the column result
	Delay       time.Duration // To is stuck: until it is tried again
	Interrupted bool          // counts as an interrupted attempt
	Lines       []Line        // written with the transition
	Traceparent string        // of the attempt that ends, for the hooks; empty: that of the job
}

// Completion is the end of a job in the transaction of its work.
type Completion struct {
	End     Transition
	Started time.Time // when the attempt began, as its job says
	Hooks   Hooks     // as of [Request]
}

// Result is what became of a [Request].
type Result struct {
	Done     []string       // jobs that made their transition
	Missed   []JobStatus    // the other jobs of Transitions
	Compared []JobStatus    // the jobs of InFlight
	Chosen   []string       // jobs that the claim tried to take
	Claimed  []jobqueue.Job // those that it took: running now, or cancelled because somebody had asked for that
	Turn     Turn           // of the next claim
	Kinds    []Kind         // all kinds that wait, for the next claim if it comes soon; none: not known
	More     bool           // the claim did not get to all kinds: claim again

	Limited bool          // there are jobs that it may not take because of limits
	Later   time.Duration // the claim found nothing, and the first job that waits for a time does for so long; 0: none, or not known
}

// JobStatus is what the database says of a job. A job that is gone has no state.
type JobStatus struct {
	JID    string
	State  jobqueue.State
	Worker string
	Cancel bool // somebody asked to cancel it
}

// OverdueQuery selects jobs to rescue.
type OverdueQuery struct {
	Dead   []string // workers that have died
	Except []string // jobs to leave out
	Limit  int      // at most so many of each kind
}

// Overdue are jobs to rescue.
type Overdue struct {
	Dead []jobqueue.Job // scheduled or running, and their worker has died
	Due  []jobqueue.Job // stuck or waiting, and the time of their retry has come
	More bool           // there may be others
	Next time.Duration  // until the next retry is due; negative: there is none
}

// Hooks hear of jobs that end, in the transaction in which they do: what Tell writes is
// committed with that, or not at all. They must be safe for concurrent use.
type Hooks interface {
	// Hears reports whether anybody wants to hear that a job has come to a state, and that
	// this turned the task. With empty names it may be any job, which may have turned it.
	Hears(task, tracker string, to jobqueue.State, turned jobqueue.Turned) bool
	// Tell writes the notices of jobs that have come to their states. It must not
	// commit, roll back or keep the transaction. An error rolls it back; the executor
	// then finds out whether single jobs are to blame.
	Tell(ctx context.Context, tx jobqueue.DBTX, now time.Time, jobs []Told) error
	// Handler is the handler of jobqueue.HookHandler.
	Handler() jobqueue.Handler
}

// Told is a job that has ended, with the last lines of its log.
type Told struct {
	Job   jobqueue.Job // without Args
	Lines []string
	// Turned is what its end did to its periodic task.
	Turned jobqueue.Turned
}

// Line is a line of the job log.
type Line struct {
	ID      string // unique; a line that is there already is not written again
	JID     string
	Level   jobqueue.Level
	Message string
	Age     time.Duration // how long ago it was written
}

// NewLine makes a line that both databases can hold.
func NewLine(jid string, level jobqueue.Level, message string) Line {
	return Line{ID: jobqueue.NewID(), JID: jid, Level: level, Message: text.Clean(message, jobqueue.MaxMessage)}
}

// Begins are the lines of the attempts with which a claim began its jobs.
func (r Result) Begins(worker string) (lines []Line) {
	for _, job := range r.Claimed {
		if job.State == jobqueue.Running {
			lines = append(lines, NewLine(job.JID, jobqueue.Info, "attempt "+strconv.Itoa(job.Attempt())+" begins on "+worker))
		}
	}
	return lines
}
