package periodic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Backfill says which past ticks to submit.
type Backfill struct {
	// From and To bound the ticks by their due: From is included, To is not. A tick that
	// is to come by the database's clock is an error.
	From, To time.Time
	// Report, if not nil, is called for each tick: with the job that was
	// submitted, or with none if the tick has one already.
	Report func(due time.Time, jid string)
	// Waits, if not nil, is called once for each tick that has to wait, with the
	// pending job for which it waits.
	Waits func(due time.Time, job sink.Pending)
}

// backfillLook is how often Backfill checks whether a pending job has become final.
const backfillLook = 500 * time.Millisecond

// Backfill submits the jobs of past ticks of a task's present timer, oldest first. If the task must not overlap, each job
// waits until the one before is final.
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
		jid, err := s.backfillTick(ctx, id, due, line, b.Waits)
		if err != nil {
			return err
		}
		if b.Report != nil {
			b.Report(due, jid)
		}
	}
	return nil
}

// backfillTick submits the job of one tick as soon as that is possible, and returns its id; empty: the tick has one already.
func (s *Tasks) backfillTick(ctx context.Context, id string, due time.Time, line calendar.Schedule, waits func(time.Time, sink.Pending)) (jid string, err error) {
	for told := false; ; told = true {
		err := s.edit(ctx, id, func(tx TaskTx, t Task) (err error) {
			if _, now := tx.Bare(); due.After(now) {
				return fmt.Errorf("backfill: the tick of %s is to come; let To not be later than now", utc(due))
			}
			// What is left of ticks that were missed together begins at the first of them without its own record.
			rest, known := line.Next(due), true
			for known && err == nil && !rest.IsZero() {
				if known, err = isRecorded(ctx, tx, id, rest); known {
					rest = line.Next(rest)
				}
			}
			if err == nil {
				jid, err = s.submitTick(ctx, tx, t, Tick{Due: due, Until: rest, Cause: CauseBackfill})
			}
			return err
		})
		var pending *PendingError
		switch {
		case errors.Is(err, errHasJob):
			return "", nil
		case !errors.As(err, &pending):
			return jid, err
		case !told && waits != nil:
			waits(due, pending.Pending)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(backfillLook):
		}
	}
}
