package executor

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// flight holds the jobs in flight: it begins them, and forgets them when
// their end is recorded or another worker has them. It is part of the loop, which writes what
// they have to say.
type flight struct {
	attempts
	e        *Executor
	hard     context.Context
	handlers map[string]handler
	agenda   *agenda
	aside    aside
	places   chan struct{} // holds one for each handler that runs
}

// begin calls the handler of a job.
func (f *flight) begin(job jobqueue.Job) {
	now := time.Now()
	if old := f.byJID[job.JID]; old != nil { // another worker had taken it, and it is claimed here again
		f.lose(old)
	}
	handler := f.handlers[job.Task]
	a := &attempt{job: job, limits: job.Limits.Over(handler.limits), percent: -1, arrived: now, began: now}
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(f.hard))
	a.log = &jobLog{jid: job.JID}
	f.byJID[job.JID] = a
	f.agenda.sooner(lookForCancels, now.Add(cancelInterval))
	f.e.emit(Event{Kind: EventBegun, Job: job})
	go a.run(f, handler)
}

// handlerReturned decides what becomes of a job whose handler has returned.
func (f *flight) handlerReturned(r handlerReturn) {
	a := r.attempt
	if a.phase == lost {
		f.forget(a)
		return
	}
	if time.Since(a.began) <= shortJob {
		f.short++
	}
	a.fetch()
	a.percent = -1 // the transition sets it
	if a.calledComplete.Load() && r.Err == nil {
		r.Err = errNotCommitted // unless the database says that it has succeeded
	}
	a.err = r.Err
	a.end = f.e.cfg.limited(a.limits).decide(a.job, r.outcome, rand.Float64())
	a.end.Worker, a.end.Traceparent = f.e.worker, r.traceparent
	a.phase = returned
}

// fetchLogs takes what the handlers that run have logged.
func (f *flight) fetchLogs() {
	for _, a := range f.byJID {
		if a.phase == running {
			a.fetch()
		}
	}
}

// applyStatus updates an attempt by the status of its job in the database.
func (f *flight) applyStatus(a *attempt, s exchange.JobStatus) step {
	what := a.after(s, f.e.worker)
	switch what {
	case keep:
	case stop:
		a.cancel(jobqueue.ErrCancelled)
	case turnCancel:
		a.end.To, a.end.Interrupted = jobqueue.Cancelled, false
	case recorded:
		if a.calledComplete.Load() && s.State == jobqueue.Success {
			a.end.To, a.err = jobqueue.Success, nil
		}
		f.recorded(a)
	case lose:
		f.lose(a)
	}
	return what
}

// recorded forgets a job whose end is recorded.
func (f *flight) recorded(a *attempt) {
	f.forget(a)
	f.aside.release(a.job.JID)
	if a.end.To == jobqueue.Stuck && !f.closed {
		f.agenda.sooner(rescueOverdue, time.Now().Add(a.end.Delay+time.Millisecond))
	}
	f.e.emit(Event{
		Kind: EventEnded, Job: a.job, Attempts: f.e.cfg.limited(a.limits).attempts(), State: a.end.To, Duration: time.Since(a.began), Err: a.err,
	})
}

// lose gives up a job that another worker has. The attempt stays until its handler has
// returned.
func (f *flight) lose(a *attempt) {
	a.cancel(jobqueue.ErrLeaseLost)
	f.forget(a)
	f.aside.release(a.job.JID)
	if a.phase == running {
		f.lost[a] = true
	}
	a.phase = lost
	f.e.emit(Event{Kind: EventLost, Job: a.job})
}

// ready lists the attempts that have something to write, sorted, except those that
// are set aside.
func (f *flight) ready() []item {
	var items []item
	for _, jid := range f.jids() {
		if a := f.byJID[jid]; a.unwritten() && !f.aside.hasReport(jid) {
			items = append(items, reportOf(a))
		}
	}
	return items
}

// attempts are the jobs in flight.
type attempts struct {
	byJID  map[string]*attempt
	lost   map[*attempt]bool // their handlers have not returned yet
	pool   int
	short  int  // handlers of short jobs that have returned since the last sync
	closed bool // there is no room for more: the executor shuts down
}

func newAttempts(pool int) attempts {
	return attempts{byJID: map[string]*attempt{}, lost: map[*attempt]bool{}, pool: pool}
}

func (as *attempts) jids() []string { return slices.Sorted(maps.Keys(as.byJID)) }

func (as *attempts) count() int { return len(as.byJID) + len(as.lost) }

// forget takes an attempt out of memory.
func (as *attempts) forget(a *attempt) {
	if as.byJID[a.job.JID] == a {
		delete(as.byJID, a.job.JID)
	}
	delete(as.lost, a)
}

// maxUnrecorded is how many jobs whose ends cannot be recorded take no place in
// the pool.
const maxUnrecorded = 100

// room is for how many more jobs there is room: the free places of the pool, and up to as many again that wait for a
// place if as many short jobs have just ended, so that the pool does not wait for the database between short jobs.
func (as *attempts) room() int {
	if as.closed {
		return 0
	}
	busy := len(as.lost)
	for _, a := range as.byJID {
		if a.phase == running {
			busy++
		}
	}
	free := as.pool - busy
	extra := max(0, min(as.short, free))
	return min(free+extra, as.pool+extra+maxUnrecorded-as.count())
}

// all yields every attempt.
func (as *attempts) all(yield func(*attempt) bool) {
	for _, a := range as.byJID {
		if !yield(a) {
			return
		}
	}
	for a := range as.lost {
		if !yield(a) {
			return
		}
	}
}
