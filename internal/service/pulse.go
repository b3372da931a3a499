package service

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrStalled is wrapped by the error of [Pulse.Health] if a loop does not go on.
var ErrStalled = errors.New("it is stuck")

// Stuck is how long no round may have ended until a loop that sleeps at most that long
// counts as stuck: its statements have timeouts that are much shorter.
func Stuck(sleep time.Duration) time.Duration { return 2*sleep + 5*time.Minute }

// trouble is for how long a loop may fail until it counts as unhealthy: a collision
// with others is over by then.
const trouble = 10 * time.Second

// Pulse is the health of a loop that works with a database. Its zero value is that of a
// loop that has not begun. It is safe for concurrent use.
type Pulse struct {
	mu   sync.Mutex
	good time.Time // end of the last round that succeeded
	last time.Time // end of the last round
	err  error     // of that

	waits bool // it has nothing to do until another one ends
}

// Waits notes that the loop waits for its turn, as long as that may take, until the next round
// goes on.
func (p *Pulse) Waits() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waits = true
}

// Beat notes the end of a round.
func (p *Pulse) Beat(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.err, p.waits = time.Now(), err, false
	if err == nil {
		p.good = p.last
	}
}

// Goes notes that a round goes on, without saying whether it will succeed.
func (p *Pulse) Goes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.waits = time.Now(), false
}

// Advances reports whether a round has succeeded within a time, or none has been tried yet.
func (p *Pulse) Advances(within time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waits || p.good.IsZero() || time.Since(p.good) <= within
}

// Health returns nil if the last round succeeded. Else it returns an error: no round has
// succeeded yet, or none for some seconds. If none has ended for longer than most, the
// error wraps [ErrStalled].
func (p *Pulse) Health(most time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.waits:
		return nil
	case !p.last.IsZero() && time.Since(p.last) > most:
		return fmt.Errorf("no round has ended for %s: %w", lasted(time.Since(p.last)), ErrStalled)
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
