package executor

import (
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor/internal/outcome"
)

const (
	// aheadMost bounds the jobs of a claim that takes more than the pool has room for;
	// aheadPools is how many pools of jobs wait for a place at most.
	aheadMost  = 500
	aheadPools = 9
	// aheadShort is how soon a pool of jobs has to end for claims to take more than it has
	// room for.
	aheadShort = 2 * maxGather
	// aheadPatience is how long a job that was claimed ahead waits for a place in the
	// pool. Then it goes back to the queue, for others to run.
	aheadPatience = 100 * time.Millisecond
)

// ahead decides how many jobs claims take beyond the pool. They wait here for a place
// in it, so that the pool does not wait for the database between short jobs. It is 0
// unless jobs end faster than the database exchanges them.
type ahead struct {
	extra int
	pool  int
	most  int
	full  time.Time // when the last claim was answered, if it got as many as it asked for
}

func newAhead(pool int) ahead {
	return ahead{pool: pool, most: max(0, min(aheadPools*pool, aheadMost-pool))}
}

// answered takes in the answer to a claim that was sent at the time asked: whether it
// got as many jobs as it asked for, how many handlers run, and how many jobs still wait
// for a place. short says that most jobs of the claim before had ended. If that claim was
// a moment ago, and many places are free, the pool waits for the database.
func (h *ahead) answered(full, short bool, running, waiting int, asked, now time.Time) {
	switch soon := !h.full.IsZero() && asked.Sub(h.full) <= aheadShort; {
	case full && soon && short && running <= h.pool/2:
		h.extra = min(max(2*h.extra, h.pool), h.most)
	case waiting > h.pool:
		h.extra /= 2
	}
	if h.full = now; !full {
		h.full = time.Time{}
	}
}

// putBack says that jobs that were claimed ahead had to go back.
func (h *ahead) putBack() { h.extra = 0 }

// place is where an attempt is between its claim and its handler. The goroutine of the
// attempt admits it, the loop withdraws it; whoever comes first wins.
type place struct{ state atomic.Int32 }

const (
	admitted  = 1
	withdrawn = 2
)

func (p *place) admit() bool    { return p.state.CompareAndSwap(0, admitted) }
func (p *place) withdraw() bool { return p.state.CompareAndSwap(0, withdrawn) }
func (p *place) waits() bool    { return p.state.Load() == 0 }

// enter waits for a place in the pool. It returns false if the attempt has ended before
// it began.
func (a *attempt) enter(places chan struct{}) bool {
	select {
	case <-a.ctx.Done():
		return false
	case places <- struct{}{}:
	}
	if a.ctx.Err() == nil && a.place.admit() {
		return true
	}
	<-places
	<-a.ctx.Done() // whoever withdrew the attempt says why
	return false
}

// waiting counts the attempts that wait for a place in the pool.
func (as *attempts) waiting() (n int) {
	for _, a := range as.byJID {
		if a.phase == running && a.place.waits() {
			n++
		}
	}
	return n
}

// withdraw ends the attempts that have waited for a place since a time or longer. Their
// jobs go back to the queue.
func (as *attempts) withdraw(since time.Time, cause error) (n int) {
	for _, a := range as.byJID {
		if a.phase == running && !a.arrived.After(since) && a.place.withdraw() {
			a.cancel(cause)
			n++
		}
	}
	return n
}

// putBack returns jobs that were claimed ahead and have waited too long.
func (f *flight) putBack(now time.Time) {
	f.agenda.clear(putBack)
	if f.withdraw(now.Add(-aheadPatience), outcome.ErrAhead) > 0 {
		f.ahead.putBack()
	}
	var next time.Time
	for _, a := range f.byJID {
		if a.phase == running && a.place.waits() && (next.IsZero() || a.arrived.Before(next)) {
			next = a.arrived
		}
	}
	if !next.IsZero() {
		f.agenda.sooner(putBack, next.Add(aheadPatience))
	}
}

// beginAll begins the jobs of a claim.
func (f *flight) beginAll(jobs []jobqueue.Job, round int, claimed time.Time) {
	for _, job := range jobs {
		f.begin(job, round, claimed)
	}
	if f.count() > f.pool {
		f.agenda.sooner(putBack, time.Now().Add(aheadPatience))
	}
}
