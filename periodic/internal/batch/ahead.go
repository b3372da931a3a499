package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
)

// EarlyError says that a batch was not submitted because its time has not come by the
// database's clock.
type EarlyError struct {
	By    time.Duration
	Asked time.Time // by the host's clock: about when the database told the time
}

func (e *EarlyError) Error() string { return fmt.Sprintf("the batch is due in %s", e.By) }

// Due is when all tasks of a batch that was claimed ahead of its time are due.
func (b *Batch) Due() time.Time { return b.Plans[len(b.Plans)-1].Task.NextRun }

// SubmitDue commits a batch that was claimed ahead of its time, or the first tasks of
// one, as Submit does, but not before its time, which is at by the host's clock: it
// waits for a moment where a transaction can, else it returns an [*EarlyError]. It
// decides again what may have changed since the claim. The returned batch has the plans
// that the transaction used; none if it did not come to that.
func (c Committer) SubmitDue(ctx context.Context, wait time.Duration, b Batch, at time.Time) (Batch, Outcome, error) {
	waits, prepared := b, b.Plans
	b.Begun, b.Plans = time.Now(), nil
	var done Outcome
	spans := spans{tracer: c.Tracer}
	err := c.Update(ctx, wait, func(tx backend.Tx) (err error) {
		if err := c.await(ctx, tx, prepared, at); err != nil {
			return err
		}
		b.Now = tx.Now()
		if b.Plans, err = c.renew(ctx, tx, b.Mark, prepared); err != nil {
			return err
		}
		done, err = c.write(ctx, tx, b.Mark, b.Plans, &spans)
		return err
	})
	done.committed()
	spans.end(err)
	if errors.Is(err, backend.ErrStepwise) {
		return c.Stepwise().SubmitDue(ctx, wait, waits, at)
	}
	return b, done, err
}

// MaxEarly is how long before its time a transaction may begin.
const MaxEarly = 20 * time.Millisecond

// await waits in a transaction until the time of plans has come, and has the database do
// what it can beforehand.
func (c Committer) await(ctx context.Context, tx backend.Tx, prepared []task.Plan, at time.Time) error {
	due := prepared[len(prepared)-1].Task.NextRun
	early := due.Sub(tx.Now())
	if early <= 0 {
		return nil
	}
	asked := time.Now()
	open, can := tx.(backend.EarlyTx)
	if !can || c.Sleep == nil || early > 2*MaxEarly {
		return &EarlyError{By: early, Asked: asked}
	}
	if c.atOnce(prepared) {
		if err := open.Ready(ctx, c.Queues[task.SinkJob]); err != nil {
			return err
		}
	}
	for range 3 { // the clocks may differ by more than thought
		c.Sleep(at)
		asked = time.Now()
		if err := open.Renew(ctx); err != nil {
			return err
		}
		if early = due.Sub(tx.Now()); early <= 0 {
			return nil
		}
		at = time.Now().Add(min(early, MaxEarly))
	}
	return &EarlyError{By: early, Asked: asked}
}

// renew returns the plans as they are now: most of them only get the time.
func (c Committer) renew(ctx context.Context, tx backend.Tx, mark string, prepared []task.Plan) ([]task.Plan, error) {
	now := tx.Now()
	plans, ticks := make([]task.Plan, len(prepared)), make([]task.Tick, len(prepared))
	f := facts{now: now}
	var again []int
	for i, p := range prepared {
		if plans[i] = p; !p.Plain() || !p.Lasts(now) {
			again = append(again, i)
			f.tasks = append(f.tasks, *p.Task)
			continue
		}
		ticks[i] = p.Ticks[0]
		ticks[i].Decided = now
		plans[i].Ticks = ticks[i : i+1 : i+1]
	}
	if len(again) == 0 {
		return plans, nil
	}
	if err := c.learn(ctx, tx, &f); err != nil {
		return nil, err
	}
	for i, p := range c.decide(mark, &f) {
		plans[again[i]] = p
	}
	return plans, nil
}
