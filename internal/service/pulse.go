package service

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrStalled is wrapped by the error of [Pulse.Health] if a loop does not go on.
var ErrStalled = errors.New("it is stuck")

// stuck is how long a loop that is awake may give no sign until it counts as stuck: its statements have timeouts that
// are shorter.
const stuck = time.Minute

// trouble is for how long a loop may fail until it counts as unhealthy: a collision
// with others is over by then.
const trouble = 10 * time.Second

// Pulse is the health of a loop that works with a database. Its zero value is that of a
// loop that has not begun. It is safe for concurrent use.
type Pulse struct {
	mu   sync.Mutex
	good time.Time // end of the last round that succeeded
	last time.Time // last sign of the loop; zero: it has not begun
	err  error     // of the last round

	asleep bool // it waits for a time, a wake-up or its turn, and has nothing to do until then
}

// Sleeps notes that the loop waits, as long as that may take, until it goes on.
func (p *Pulse) Sleeps() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asleep = true
}

// Beat notes the end of a round.
func (p *Pulse) Beat(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.err, p.asleep = time.Now(), err, false
	if err == nil {
		p.good = p.last
	}
}

// Goes notes that the loop makes progress: a page was read, or a batch written or refused, whatever becomes of the round.
func (p *Pulse) Goes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.asleep = time.Now(), false
}

// still is for how long the loop, awake, has given no sign.
func (p *Pulse) still() time.Duration {
	if p.asleep || p.last.IsZero() {
		return 0
	}
	return time.Since(p.last)
}

// Advances reports whether the loop has stood still for no longer than a time, and has not failed for longer than another.
func (p *Pulse) Advances(still, failing time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.still() <= still && (p.err == nil || p.good.IsZero() || time.Since(p.good) <= failing)
}

// Health returns nil if the last round succeeded. Else it returns an error: no round has
// succeeded yet, or none for some seconds. If the loop has stood still for a minute, the
// error wraps [ErrStalled].
func (p *Pulse) Health() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch still := p.still(); {
	case still > stuck:
		return fmt.Errorf("it has stood still for %s: %w", lasted(still), ErrStalled)
	case p.err == nil && p.good.IsZero():
		return errors.New("its first round has not ended yet")
	case p.err == nil:
		return nil
	case p.good.IsZero():
		return p.err
	case time.Since(p.good) > trouble:
		return fmt.Errorf("no round has succeeded for %s: %w", lasted(time.Since(p.good)), p.err)
	}
	return nil
}
