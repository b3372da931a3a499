package periodic

import (
	"context"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/internal/batch"
)

// This scheduler marks no tasks: it locks them. Docspell and earlier releases of nextrun do, and
// their marks keep a task from this scheduler until they expire.

// clearMarks removes expired marks, and those of a worker name if one is given. It returns their
// number.
func (l *loop) clearMarks(ctx context.Context, name string) (count int, err error) {
	err = l.role.update(ctx, batch.Wait, func(tx backend.Tx) (err error) {
		count, err = tx.ClearMarks(ctx, l.cfg.Lease, name)
		return err
	})
	if err == nil && count > 0 {
		l.observe(Event{Kind: EventCleared, Count: count})
	}
	return count, err
}

// clearStale removes expired marks if there are any. It reports whether it did, or could not
// because somebody else has locked the rows.
func (l *loop) clearStale(ctx context.Context, peek *backend.Peek) (cleared, locked bool, err error) {
	if age := peek.Now.Sub(peek.Marked); peek.Marked.IsZero() || -l.cfg.Lease <= age && age <= l.cfg.Lease {
		return false, false, nil // one that is as far in the future was left there by a clock that was set back
	}
	n, err := l.clearMarks(ctx, "")
	if err != nil || n > 0 {
		return n > 0, false, err
	}
	peek.Marked = peek.Now
	return false, true, nil
}
