package jobqueue

import (
	"context"
	"strings"
	"time"
)

// Hooks hear of jobs that begin and of jobs that end, in the transaction in which they
// do: what Tell writes is committed with that, or not at all. They must be safe for
// concurrent use.
type Hooks interface {
	// Hears reports whether anybody wants to hear that a job has come to a state, and that
	// this turned the task. With empty names it may be any job, which may have turned it.
	Hears(task, tracker string, to State, turned Turned) bool
	// Tell writes what is to be told of jobs that have come to their states. It must not
	// commit, roll back or keep the transaction. An error rolls it back; the executor
	// then finds out whether single jobs are to blame.
	Tell(ctx context.Context, tx DBTX, now time.Time, jobs []Told) error
}

// Told is a job that has begun or ended, with the last lines of its log.
type Told struct {
	Job   Job // without Args
	Lines []string
	// Turned is what its end did to its periodic task.
	Turned Turned
}

// Turned is what the end of a job did to its periodic task, as the column of that name of
// periodic_tick has it; empty: nothing.
type Turned string

// What a job may do to its task. It may turn it failing and paused at once.
const (
	Failing   Turned = "failing"   // it is the first that failed after a success
	Paused    Turned = "paused"    // so many have failed in a row that the task is paused
	Recovered Turned = "recovered" // it is the first that succeeded after failures
)

// Has reports whether one is a part of t.
func (t Turned) Has(one Turned) bool { return strings.Contains(string(t), string(one)) }
