package model

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/internal/batch"
	"github.com/nextrun/nextrun/periodic/leader"
)

// perform runs a transaction of package batch.
func perform(ctx context.Context, c batch.Committer, kind, mark string, b batch.Batch) (claimed batch.Batch, out batch.Outcome, err error) {
	plans := slices.Clone(b.Plans)
	switch claim := (backend.Claim{Mark: mark, Limit: 100}); kind {
	case "take":
		out, err = c.Take(ctx, batch.Wait, claim, func(batch.Batch) {})
	case "claim":
		claimed, err = c.Claim(ctx, batch.Wait, claim, "")
	case "prepare":
		claim.Ahead = lead
		claimed, err = c.Claim(ctx, batch.Wait, claim, "")
	case "submit":
		out, err = c.Submit(ctx, batch.Wait, b.Mark, plans)
	default: // what was prepared
		b.Plans = plans
		_, out, err = c.SubmitDue(ctx, batch.Wait, b, time.Time{})
	}
	return claimed, out, err
}

// run lets the real code go on with a transaction, by so many calls. It reports false if
// the next one waits for a lock.
func (w *world) run(i *instance, most int) bool {
	t, kind := i.tx, i.tx.kind
	s := &session{w: w, i: i, t: t, most: most}
	ctx := context.WithValue(context.Background(), sessionKey{}, s)
	if kind == "submit what was prepared" && w.off(early) {
		kind = "submit"
	}
	var b batch.Batch
	if i.held != nil {
		b = i.held.batch
	}
	var err error
	t.batch, t.out, err = perform(ctx, committer, kind, i.mark(), b)
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
	case errors.Is(err, backend.ErrStepwise): // by a transaction that holds its tasks: the next ones are marked
		w.failed(i)
		i.careful = true
	case w.off(rowLock):
		w.failed(i)
	default:
		w.broken = "error: " + err.Error()
	}
	return true
}
