package periodic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/periodic/sink"
)

// Backfill says which past ticks to submit, and how fast.
type Backfill struct {
	// From and To bound the ticks by their due: From is included, To is not. To
	// must not be later than the database's now.
	From, To time.Time
	// Pace is the least time between two jobs. If the task must not overlap, each
	// job also waits until the one before is final.
	Pace time.Duration
	// Report, if not nil, is called for each tick: with the job that was
	// submitted, or with none if the tick has one already.
	Report func(due time.Time, jid string)
	// Waits, if not nil, is called once for each tick that has to wait, with the
	// pending job for which it waits.
	Waits func(due time.Time, job sink.Pending)
}

// backfillLook is how often Backfill checks whether a pending job has become final.
const backfillLook = 500 * time.Millisecond

// Backfill submits the jobs of past ticks of a task's present timer, oldest first.
// It leaves out ticks that have a job already, so an interrupted backfill can be
// repeated and continues where it ended. It returns when all are submitted, or with
// ctx's error.
func (s *Tasks) Backfill(ctx context.Context, id string, b Backfill) error {
	if !b.From.Before(b.To) {
		return fmt.Errorf("backfill task %q: From must be before To", id)
	}
	if _, inside := s.store.(inTx); inside {
		return fmt.Errorf("backfill task %q: it waits for jobs, which nobody sees before the transaction is committed; use Tasks without In", id)
	}
	t, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	line, err := t.parse()
	if err != nil {
		return err
	}
	for due := line.Next(b.From.Add(-time.Microsecond)); !due.IsZero() && due.Before(b.To); due = line.Next(due) {
		if err := s.backfillTick(ctx, id, due, line.Next(due), b); err != nil {
			return about(id, err)
		}
	}
	return nil
}

// backfillTick submits the job of one tick as soon as that is possible.
func (s *Tasks) backfillTick(ctx context.Context, id string, due, following time.Time, b Backfill) error {
	for waited := false; ; {
		var jid string
		err := s.store.Update(ctx, func(tx TaskTx) error {
			t, err := tx.Get(ctx, id, true)
			if err != nil {
				return err
			}
			jid, err = s.submitTick(ctx, tx, t, Tick{Due: due, Until: following, Cause: CauseBackfill})
			return err
		})
		var inTheWay *PendingError
		var done *tickError
		switch {
		case errors.As(err, &done):
			b.report(due, "")
			return nil
		case errors.As(err, &inTheWay):
			if !waited && b.Waits != nil {
				b.Waits(due, inTheWay.Pending)
			}
			waited = true
			if err := wait(ctx, backfillLook); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			b.report(due, jid)
			return wait(ctx, b.Pace)
		}
	}
}

func (b Backfill) report(due time.Time, jid string) {
	if b.Report != nil {
		b.Report(due, jid)
	}
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
