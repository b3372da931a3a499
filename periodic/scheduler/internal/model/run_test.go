package model

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/internal/leader"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
)

// perform runs a transaction of package batch. What it prepares are the plans that can be
// written as they are.
func perform(ctx context.Context, c batch.Committer, kind string, b batch.Batch) (prepared batch.Batch, err error) {
	switch claim := (taskdb.Claim{Limit: 100}); kind {
	case take:
		_, err = c.Take(ctx, batch.LockTimeout, claim, batch.Alone{}, func(batch.Batch) {})
	case prepare:
		claim.Ahead = lead
		prepared, err = c.Prepare(ctx, batch.LockTimeout, claim)
		prepared.Plans = slices.DeleteFunc(prepared.Plans, func(p decide.Plan) bool { return !c.CanPrepare(&p) })
	case submit:
		b.Plans = slices.Clone(b.Plans)
		for i := range b.Plans {
			b.Plans[i].Ticks = slices.Clone(b.Plans[i].Ticks)
		}
		_, err = c.SubmitPrepared(ctx, batch.LockTimeout, b, time.Time{})
	}
	return prepared, err
}

// run lets the real code go on with a transaction, by so many calls. It reports false if
// the next one waits for a lock.
func (w *world) run(i *instance, most int) bool {
	t := i.tx
	s := &session{w: w, i: i, t: t, most: most}
	ctx := context.WithValue(context.Background(), sessionKey{}, s)
	var b batch.Batch
	if i.held != nil {
		b = i.held.batch
	}
	var err error
	t.batch, err = perform(ctx, committer, t.kind, b)
	var tooEarly *batch.EarlyError
	switch {
	case err == nil:
		t.done = true
	case errors.Is(s.err, errStop):
	case errors.Is(s.err, errWaits):
		return false
	case errors.Is(err, leader.ErrLost):
		i.end()
		i.token = 0
	case errors.As(err, &tooEarly):
		i.tx = nil
	case w.off(rowLock):
		i.end()
	default:
		w.broken = "error: " + err.Error()
	}
	return true
}
