package scheduler

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/taskdb"
)

// peer is what a loop knows of another scheduler that goes first. If both prepared the same tasks, one would do so for
// nothing. So this one yields: it prepares nothing, and takes tasks only some time after they fall due (backlogDelay).
// It stops yielding when it finds work that the other one has left. All times are by the host's clock.
type peer struct {
	yieldUntil   time.Time // zero: this scheduler does not yield
	checkAt      time.Time // when to ask again whether another one goes first
	batchesLost  int       // how many batches in a row the other has submitted first
	timesYielded int       // how many times in a row due tasks were left to it
}

const (
	// maxLost is how many batches in a row the other has to submit first, before this one yields.
	maxLost = 2
	// yieldFor is how long it does.
	yieldFor = time.Minute
	// maxYielded is how many times in a row more is left to the other while it is at work.
	maxYielded = 3
	// checkSoon is when a scheduler that has begun asks again whether another one goes first: those
	// that begin together are not shown yet. checkAgain is how often it asks from then on.
	checkSoon, checkAgain = 2 * time.Second, 30 * time.Second
	// backlogDelay is how long a scheduler that yields leaves due tasks to the other.
	backlogDelay = 100 * time.Millisecond
)

// yielding reports whether the other scheduler goes first.
func (p *peer) yielding() bool { return !p.yieldUntil.IsZero() && time.Now().Before(p.yieldUntil) }

// lost notes how many tasks of a prepared batch were left for this scheduler, and reports whether
// it is time to yield.
func (p *peer) lost(kept int) bool {
	if p.batchesLost++; kept > 0 {
		p.batchesLost = 0
	}
	return p.batchesLost >= maxLost
}

// yield lets the other go first for a time.
func (p *peer) yield() {
	p.batchesLost, p.timesYielded, p.yieldUntil = 0, 0, time.Now().Add(yieldFor)
}

// foundWork notes that there was something left to do. If the one that goes first does nothing,
// this one does not ask about it for a time.
func (p *peer) foundWork() {
	if p.yielding() {
		p.yieldUntil, p.checkAt = time.Time{}, time.Now().Add(yieldFor)
	}
}

// check asks, from time to time, whether another scheduler goes first.
func (p *peer) check(ctx context.Context, r role) bool {
	now := time.Now()
	if now.Before(p.checkAt) {
		return false
	}
	pause := checkAgain
	if p.checkAt.IsZero() {
		pause = checkSoon
	}
	p.checkAt = now.Add(pause)
	return r.precedes(ctx)
}

// yieldsBacklog decides whether to leave what is due to the other for a moment more, since somebody
// has locked some of it.
func (p *peer) yieldsBacklog(ctx context.Context, store taskdb.Watcher, exclude taskdb.Exclude) bool {
	if !p.yielding() || p.timesYielded == maxYielded {
		return false
	}
	p.timesYielded++
	locked, err := store.Locked(ctx, backlogDelay/2, exclude)
	if err != nil || len(locked) == 0 {
		p.timesYielded = 0
	}
	return p.timesYielded > 0
}
