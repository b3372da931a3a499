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

	mu    sync.Mutex
	until time.Time // of trust; with a monotonic reading
	beat  time.Time // start of the last renewal
	timer *time.Timer
	gate  chan struct{} // closed at the end of the renewal under way; nil: none
}

// newTerm begins a term that was won by a request that started at asked.
func newTerm(f Fence, asked time.Time, trust time.Duration) *Term {
	ctx, cancel := context.WithCancelCause(context.Background())
	t := &Term{fence: f, ctx: ctx, cancel: cancel, until: asked.Add(trust), beat: asked}
	t.timer = time.AfterFunc(time.Until(t.until), func() { t.expire() })
	return t
}

// Fence is what transactions of this term are guarded with.
func (t *Term) Fence() Fence { return t.fence }

// Context ends with the term, with the cause [ErrLost].
func (t *Term) Context() context.Context { return t.ctx }

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
	t.mu.Lock()
	gate := t.gate
	t.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-t.ctx.Done():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if !t.Holds() {
		return ErrLost
	}
	return nil
}

// closeGate keeps transactions out until open is called.
func (t *Term) closeGate() (open func()) {
	gate := make(chan struct{})
	t.mu.Lock()
	t.gate = gate
	t.mu.Unlock()
	return func() {
		t.mu.Lock()
		t.gate = nil
		t.mu.Unlock()
		close(gate)
	}
}

// extend has the term trusted for longer, after a renewal that started at
// asked. It returns false if the term has ended already.
func (t *Term) extend(asked time.Time, trust time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() != nil || !time.Now().Before(t.until) {
		return false
	}
	t.until, t.beat = asked.Add(trust), asked
	t.timer.Reset(time.Until(t.until))
	return true
}

// expire ends the term if its time is over.
func (t *Term) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !time.Now().Before(t.until) { // else it was extended just now
		t.cancel(ErrLost)
	}
}

// finish ends the term.
func (t *Term) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer.Stop()
	t.cancel(ErrLost)
}

// deadlines returns when the next renewal is due and when trust ends.
func (t *Term) deadlines(heartbeat time.Duration) (next, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.beat.Add(heartbeat), t.until
}
