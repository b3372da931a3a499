package executor

import (
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor/internal/outcome"
)

const (
	// mostPrefetched bounds the jobs of a claim that takes more than the pool has room for;
	// prefetchPools is how many pools of jobs wait for a place at most.
	mostPrefetched = 500
	prefetchPools  = 9
	// prefetchShort is how soon a pool of jobs has to end for claims to take more than it has
	// room for.
	prefetchShort = 2 * maxGather
	// prefetchPatience is how long a job that was prefetched waits for a place in the
	// pool. Then it goes back to the queue, for others to run.
	prefetchPatience = 100 * time.Millisecond
)

// prefetch decides how many jobs claims take beyond the pool. They wait here for a place
// in it, so that the pool does not wait for the database between short jobs. It is 0
// unless jobs end faster than the database exchanges them.
type prefetch struct {
	extra int
	pool  int
	most  int
	full  time.Time // when the last claim was answered, if it got as many as it asked for
}

func newPrefetch(pool int) prefetch {
	return prefetch{pool: pool, most: max(0, min(prefetchPools*pool, mostPrefetched-pool))}
}

// claimed is what a claim found.
type claimed struct {
	full    bool      // it got as many jobs as it asked for
	short   bool      // most jobs of the claim before had ended
	running int       // handlers that run
	waiting int       // jobs that still wait for a place
	asked   time.Time // when the claim was sent
}

// adapt doubles the prefetch when one full claim follows another at once and half of the
// pool is idle: then the pool waits for the database. It halves it when jobs pile up.
func (p *prefetch) adapt(c claimed, now time.Time) {
	switch soon := !p.full.IsZero() && c.asked.Sub(p.full) <= prefetchShort; {
	case c.full && soon && c.short && c.running <= p.pool/2:
		p.extra = min(max(2*p.extra, p.pool), p.most)
	case c.waiting > p.pool:
		p.extra /= 2
	}
	if p.full = now; !c.full {
		p.full = time.Time{}
	}
}

// putBack says that jobs that were prefetched had to go back.
func (p *prefetch) putBack() { p.extra = 0 }

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

// putBack returns jobs that were prefetched and have waited too long.
func (f *flight) putBack(now time.Time) {
	f.agenda.clear(putBack)
	if f.withdraw(now.Add(-prefetchPatience), outcome.ErrPoolBusy) > 0 {
		f.prefetch.putBack()
	}
	var next time.Time
	for _, a := range f.byJID {
		if a.phase == running && a.place.waits() && (next.IsZero() || a.arrived.Before(next)) {
			next = a.arrived
		}
	}
	if !next.IsZero() {
		f.agenda.sooner(putBack, next.Add(prefetchPatience))
	}
}

// beginAll begins the jobs of a claim.
func (f *flight) beginAll(jobs []jobqueue.Job, round int, claimed time.Time) {
	for _, job := range jobs {
		f.begin(job, round, claimed)
	}
	if f.count() > f.pool {
		f.agenda.sooner(putBack, time.Now().Add(prefetchPatience))
	}
}
