package leader

import (
	"context"
	"sync"
	"time"
)

// Term is an uninterrupted time of holding the lock, as far as its holder can
// know. It is safe for concurrent use.
type Term struct {
	fence  Fence
	ctx    context.Context //nolint:containedctx // its end is the term's end
	cancel context.CancelCauseFunc
	turn   chan struct{} // capacity 1: has a value while a renewal is under way

	mu    sync.Mutex
	until time.Time // of trust; with a monotonic reading
	timer *time.Timer
}

// newTerm begins a term that is trusted until a time.
func newTerm(f Fence, until time.Time) *Term {
	ctx, cancel := context.WithCancelCause(context.Background())
	t := &Term{fence: f, ctx: ctx, cancel: cancel, turn: make(chan struct{}, 1), until: until}
	t.timer = time.AfterFunc(time.Until(until), t.expire)
	return t
}

// Fence is what transactions of this term are guarded with.
func (t *Term) Fence() Fence { return t.fence }

// Context ends with the term, with the cause [ErrLost] or [ErrIdle].
func (t *Term) Context() context.Context { return t.ctx }

// During returns a context that ends with another one and with the term.
func (t *Term) During(ctx context.Context) (context.Context, context.CancelFunc) {
	both, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(t.ctx, cancel)
	return both, func() {
		stop()
		cancel()
	}
}

// Holds reports whether the holder may still trust its lock. It reads the
// clock, not only the context: in a process that was stopped, this may run before
// the timer that ends the context.
func (t *Term) Holds() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ctx.Err() == nil && time.Now().Before(t.until)
}

// Enter waits for the end of a renewal under way: a renewal and a guarded
// transaction want the same row, and overlapping transactions could keep
// it from the renewal for ever. Call it before a transaction is begun. It
// returns [ErrLost] if the term has ended, or ctx's error.
func (t *Term) Enter(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
		<-t.turn
	case <-t.ctx.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	if !t.Holds() {
		return ErrLost
	}
	return nil
}

// End ends a term that a transaction has found lost.
func (t *Term) End() { t.end(ErrLost) }

func (t *Term) end(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer.Stop()
	t.cancel(why)
}

// extend moves the end of trust to a later time, unless the term has ended.
func (t *Term) extend(until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() == nil && time.Now().Before(t.until) {
		t.until = until
		t.timer.Reset(time.Until(until))
	}
}

// expire ends the term if its time is over.
func (t *Term) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !time.Now().Before(t.until) { // else it was extended just now
		t.cancel(ErrLost)
	}
}
