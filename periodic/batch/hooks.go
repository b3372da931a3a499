package batch

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// Hooks hear of ticks that get no job although they should, in the transaction that
// records them: what TellMissed writes is committed with that, or not at all. They must
// be safe for concurrent use.
type Hooks interface {
	// HearsMissed reports whether anybody wants to hear of the ticks of a task.
	HearsMissed(t *periodic.Task) bool
	// TellMissed writes the notices of ticks that were missed, were too late, or
	// were refused for good by the queue of their task. It must not commit, roll back or
	// keep the transaction. An error rolls it back.
	TellMissed(ctx context.Context, tx jobqueue.DBTX, now time.Time, ticks []MissedTick) error
	// TellPaused writes the notice of a task that is paused because its jobs fail, as TellMissed does.
	TellPaused(ctx context.Context, tx jobqueue.DBTX, now time.Time, t PausedTask) error
	// HearsEnd reports whether anybody wants to hear that the job of a tick in a queue that is
	// not nextrun's own ended so, and that this turned its task.
	HearsEnd(t *periodic.Task, k periodic.Tick) bool
	// TellEnds writes the notices of such jobs, as TellMissed does.
	TellEnds(ctx context.Context, tx jobqueue.DBTX, now time.Time, ticks []EndedTick) error
}

// PausedTask is a task that is paused because its jobs fail.
type PausedTask struct {
	ID, Handler string
	Reason      string
}

// MissedTick is a tick without a job.
type MissedTick struct {
	Task *periodic.Task
	Tick periodic.Tick
}

// EndedTick is a tick whose job in a queue that is not nextrun's own has ended.
type EndedTick struct {
	Task *periodic.Task // nil: it was deleted
	Tick periodic.Tick
}

// BadEnd is a job whose end cannot be read or recorded.
type BadEnd struct {
	TaskID, JID string
	Err         error
}

// tellHooks tells the hooks of recorded ticks that get no job although they should.
func (c Processor) tellHooks(ctx context.Context, tx Tx, done Outcome) error {
	if c.Hooks == nil {
		return nil
	}
	var missed []MissedTick
	for _, tick := range done.Ticks {
		t := done.Plans[tick.TaskID].Task
		if lacksJob(tick) && c.Hooks.HearsMissed(t) {
			missed = append(missed, MissedTick{Task: t, Tick: tick})
		}
	}
	if len(missed) == 0 {
		return nil
	}
	if err := c.Hooks.TellMissed(ctx, tx.DBTX(), tx.Now(), missed); err != nil {
		return fmt.Errorf("write the events of hooks: %w", err)
	}
	return nil
}
