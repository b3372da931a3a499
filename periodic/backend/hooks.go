package backend

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/task"
)

// Hooks hear of ticks that get no job although they should, in the transaction that
// records them: what TellMissed writes is committed with that, or not at all. They must
// be safe for concurrent use.
type Hooks interface {
	// HearsMissed reports whether anybody wants to hear of the ticks of a task.
	HearsMissed(t *task.Task) bool
	// TellMissed writes what is to be told of ticks that were missed, were too late, or
	// were refused for good by the queue of their task. It must not commit, roll back or
	// keep the transaction. An error rolls it back.
	TellMissed(ctx context.Context, tx jobqueue.DBTX, now time.Time, ticks []MissedTick) error
}

// MissedTick is a tick without a job.
type MissedTick struct {
	Task *task.Task
	Tick task.Tick
}
