package executor

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

const (
	// shortJob is how soon a job has to end for the next claim to take more than the pool has places for.
	shortJob = 10 * time.Millisecond
	// placePatience is how long a job waits here for a place in the pool. Then it is unclaimed, for others to run.
	placePatience = 100 * time.Millisecond
)

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
func (p *admission) began() bool    { return p.state.Load() == admitted }

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

// withdraw cancels the attempts that have waited for a place since a time or longer. Their jobs
// are to be unclaimed.
func (as *attempts) withdraw(since time.Time, cause error) {
	for _, a := range as.byJID {
		if a.phase == running && !a.arrived.After(since) && a.admission.withdraw() {
			a.cancel(cause)
		}
	}
}

// unclaimWaiting sends jobs back to the queue that have waited here too long.
func (f *flight) unclaimWaiting(now time.Time) {
	f.agenda.clear(unclaimWaiting)
	f.withdraw(now.Add(-placePatience), errPoolBusy)
	var next time.Time
	for _, a := range f.byJID {
		if a.phase == running && a.admission.waits() && (next.IsZero() || a.arrived.Before(next)) {
			next = a.arrived
		}
	}
	if !next.IsZero() {
		f.agenda.sooner(unclaimWaiting, next.Add(placePatience))
	}
}

// beginAll begins the jobs of a claim.
func (f *flight) beginAll(jobs []jobqueue.Job) {
	for _, job := range jobs {
		f.begin(job)
	}
	if f.count() > f.pool {
		f.agenda.sooner(unclaimWaiting, time.Now().Add(placePatience))
	}
	runtime.Gosched() // handlers that end at once do so before the next sync, which then reports them together
}
