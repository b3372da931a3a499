package batch

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
)

// tellHooks tells the hooks of recorded ticks that get no job although they should.
func (c Committer) tellHooks(ctx context.Context, tx taskdb.Tx, done Outcome) error {
	if c.Hooks == nil {
		return nil
	}
	var missed []taskdb.MissedTick
	for _, tick := range done.Ticks {
		t := done.Plans[tick.TaskID].Task
		if done.lacksJob(tick) && c.Hooks.HearsMissed(t) {
			missed = append(missed, taskdb.MissedTick{Task: t, Tick: tick})
		}
	}
	if len(missed) == 0 {
		return nil
	}
	if err := c.Hooks.TellMissed(ctx, tx.DBTX(), tx.Now(), missed); err != nil {
		return fmt.Errorf("write the events of hooks: %w", err)
	}
	crashpoint.At("scheduler/missed-told")
	return nil
}

// lacksJob reports whether a tick gets no job although it should. A tick that its
// policy skips is not one.
func (o *Outcome) lacksJob(tick periodic.Tick) bool {
	return tick.Decision == periodic.Missed || tick.Decision == periodic.Late || o.refused[tick.Key()]
}
