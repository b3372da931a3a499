package batch

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/periodic/backend"
)

// Take claims due tasks, decides and submits in one transaction, which holds the tasks:
// nobody else sees them marked, and they are written once instead of twice. As soon as
// the decisions are made, it calls claimed, unless nothing was due; another Take may
// begin then. If Take fails before that, the claim has failed.
//
// It is for schedulers whose queues are all nextrun's own. A queue that is not may take
// its time, and the rows would be locked meanwhile.
func (c Committer) Take(ctx context.Context, wait time.Duration, claim backend.Claim, claimed func(Batch)) (Outcome, error) {
	var done Outcome
	spans := spans{tracer: c.Tracer}
	begun := time.Now()
	claim.Hold = true
	err := c.Update(ctx, wait, func(tx backend.Tx) error {
		f := facts{}
		if err := c.read(ctx, tx, claim, &f); err != nil {
			return fmt.Errorf("claim: %w", err)
		}
		if len(f.tasks) == 0 {
			return nil
		}
		b := Batch{claim.Mark, begun, f.now, c.decide(claim.Mark, &f)}
		claimed(b)
		crashpoint.At("scheduler/held")
		var err error
		done, err = c.write(ctx, tx, "", b.Plans, &spans)
		return err
	})
	done.committed()
	spans.end(err)
	return done, err
}
