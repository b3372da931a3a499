package batch

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/internal/taskdb"
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
	return p.Plain() && p.Task.Failures.PauseAfter == 0 && c.Queues[p.Task.Sink] != nil
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

// MaxEarly is how long before its time a transaction may begin.
const MaxEarly = 20 * time.Millisecond
