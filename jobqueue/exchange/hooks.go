package exchange

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// Hooks hear of jobs that end, in the transaction in which they do: what Tell writes is
// committed with that, or not at all. They must be safe for concurrent use.
type Hooks interface {
	// Hears reports whether anybody wants to hear that a job has come to a state, and that
	// this turned the task. With empty names it may be any job, which may have turned it.
	Hears(task, tracker string, to jobqueue.State, turned jobqueue.Turned) bool
	// Tell writes what is to be told of jobs that have come to their states. It must not
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
