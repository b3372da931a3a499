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
	prefetchShort = 2 * maxReportDelay
	// prefetchPatience is how long a job that was prefetched waits for a place in the
	// pool. Then it is unclaimed, for others to run.
	prefetchPatience = 100 * time.Millisecond
)

// prefetch decides how many jobs claims take beyond the pool. They wait here for a place
// in it, so that the pool does not wait for the database between short jobs. It is 0
// unless jobs are shorter than an exchange with the database.
type prefetch struct {
	extra int
	pool  int
	most  int
	full  time.Time // when the last claim was answered, if it got as many as it asked for
}

func newPrefetch(pool int) prefetch {
	return prefetch{pool: pool, most: max(0, min(prefetchPools*pool, mostPrefetched-pool))}
}

// claimOutcome is what a claim found.
type claimOutcome struct {
	full         bool      // it got as many jobs as it asked for
	mostReturned bool      // most handlers of the claim before had returned
	running      int       // handlers that run
	waiting      int       // jobs that still wait for a place
	asked        time.Time // when the claim was sent
}

// adapt doubles the prefetch when one full claim follows another at once and half of the
// pool is idle: then the pool waits for the database. It halves it when jobs pile up.
func (p *prefetch) adapt(c claimOutcome, now time.Time) {
	switch soon := !p.full.IsZero() && c.asked.Sub(p.full) <= prefetchShort; {
	case c.full && soon && c.mostReturned && c.running <= p.pool/2:
		p.extra = min(max(2*p.extra, p.pool), p.most)
	case c.waiting > p.pool:
		p.extra /= 2
	}
	if p.full = now; !c.full {
		p.full = time.Time{}
	}
}

// reset ends the prefetch, since jobs were unclaimed.
func (p *prefetch) reset() { p.extra = 0 }

// admission decides whether an attempt goes on from its claim to its handler. The goroutine of the
// attempt admits it, the loop withdraws it; whoever comes first wins.
type admission struct{ state atomic.Int32 }

const (
	admitted  = 1
	withdrawn = 2
)

func (p *admission) admit() bool    { return p.state.CompareAndSwap(0, admitted) }
func (p *admission) withdraw() bool { return p.state.CompareAndSwap(0, withdrawn) }
func (p *admission) waits() bool    { return p.state.Load() == 0 }

// enter waits for a place in the pool. It returns false if the attempt was cancelled or withdrawn
// before.
func (a *attempt) enter(places chan struct{}) bool {
	select {
	case <-a.ctx.Done():
		return false
	case places <- struct{}{}:
	}
	if a.ctx.Err() == nil && a.admission.admit() {
		return true
	}
	<-places
	<-a.ctx.Done() // whoever withdrew the attempt says why
	return false
}

// waiting counts the attempts that wait for a place in the pool.
func (as *attempts) waiting() (n int) {
	for _, a := range as.byJID {
		if a.phase == running && a.admission.waits() {
			n++
		}
	}
	return n
}

// withdraw cancels the attempts that have waited for a place since a time or longer. Their jobs
// are to be unclaimed.
func (as *attempts) withdraw(since time.Time, cause error) (n int) {
	for _, a := range as.byJID {
		if a.phase == running && !a.arrived.After(since) && a.admission.withdraw() {
			a.cancel(cause)
			n++
		}
	}
	return n
}

// unclaimWaiting has jobs wait in the queue again that were prefetched and have waited here too long.
func (f *flight) unclaimWaiting(now time.Time) {
	f.agenda.clear(unclaimWaiting)
	if f.withdraw(now.Add(-prefetchPatience), outcome.ErrPoolBusy) > 0 {
		f.prefetch.reset()
	}
	var next time.Time
	for _, a := range f.byJID {
		if a.phase == running && a.admission.waits() && (next.IsZero() || a.arrived.Before(next)) {
			next = a.arrived
		}
	}
	if !next.IsZero() {
		f.agenda.sooner(unclaimWaiting, next.Add(prefetchPatience))
	}
}

// beginAll begins the jobs of a claim.
func (f *flight) beginAll(jobs []jobqueue.Job, claim int, asked time.Time) {
	for _, job := range jobs {
		f.begin(job, claim, asked)
	}
	if f.count() > f.pool {
		f.agenda.sooner(unclaimWaiting, time.Now().Add(prefetchPatience))
	}
}
