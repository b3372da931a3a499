package batch

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
)

// Prepare reads tasks that are not due yet, and decides as if they were. It locks no row; the transaction checks the fence of the mode.
func (c Committer) Prepare(ctx context.Context, wait time.Duration, claim taskdb.Claim) (Batch, error) {
	begun, f := time.Now(), facts{prepare: true}
	if err := c.Update(ctx, wait, func(tx taskdb.Tx) error { return c.read(ctx, tx, claim, &f) }); err != nil {
		return Batch{}, fmt.Errorf("read the tasks that fall due soon: %w", err)
	}
	return Batch{begun, f.now, c.decide(&f)}, nil
}

// CanPrepare reports whether a plan that was decided before its time can be written at that time
// as it is, if its row is as it was read.
func (c Committer) CanPrepare(p *decide.Plan) bool {
	return p.Plain() && c.Queues[p.Task.Sink] != nil
}

// EarlyError says that a batch was not submitted because its time has not come by the
// database's clock.
type EarlyError struct {
	By    time.Duration
	Asked time.Time // by the host's clock: about when the database told the time
}

func (e *EarlyError) Error() string { return fmt.Sprintf("the batch is due in %s", e.By) }

// ReadyAt is when all tasks of a batch are due.
func (b *Batch) ReadyAt() time.Time { return b.Plans[len(b.Plans)-1].Task.NextRun }

// SubmitPrepared commits plans that were prepared, but not before their time, which is at by the
// host's clock: it waits for a moment where a transaction can, else it returns an
// [*EarlyError]. Tasks whose row was written since it was read drop out, as do those that somebody else
// has locked, and plans that would be others by now.
func (c Committer) SubmitPrepared(ctx context.Context, wait time.Duration, b Batch, at time.Time) (Outcome, error) {
	return c.transact(ctx, wait, func(tx taskdb.Tx, d *delivery) error {
		if err := c.waitUntilDue(ctx, tx, b.ReadyAt(), at); err != nil {
			return err
		}
		now := tx.Now()
		plans, given := make([]decide.Plan, 0, len(b.Plans)), 0
		for _, p := range b.Plans {
			if p.Lasts(now) && !c.tooMany(p.Task, &given) { // a plan does not last if the process stood still
				p.Ticks[0].Decided = now
				plans = append(plans, p)
			}
		}
		if len(plans) == 0 {
			return nil
		}
		return c.write(ctx, d, plans)
	})
}

// MaxEarly is how long before its time a transaction may begin.
const MaxEarly = 20 * time.Millisecond

// waitUntilDue waits in a transaction until a time has come, and has the database do what it can
// beforehand.
func (c Committer) waitUntilDue(ctx context.Context, tx taskdb.Tx, due, at time.Time) error {
	early := due.Sub(tx.Now())
	if early <= 0 {
		return nil
	}
	asked := time.Now()
	if c.Sleep == nil || early > 2*MaxEarly {
		return &EarlyError{By: early, Asked: asked}
	}
	if _, _, err := tx.SubmitAtOnce(ctx, c.Queues[periodic.SinkJob], nil); err != nil {
		return err
	}
	for range 3 { // the clocks may differ by more than thought
		c.Sleep(at)
		asked = time.Now()
		if err := tx.RefreshNow(ctx); err != nil {
			return err
		}
		if early = due.Sub(tx.Now()); early <= 0 {
			return nil
		}
		at = time.Now().Add(min(early, MaxEarly))
	}
	return &EarlyError{By: early, Asked: asked}
}
