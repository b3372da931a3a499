package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/backend"
	"github.com/nextrun/nextrun/jobqueue/internal/joblog"
	"github.com/nextrun/nextrun/jobqueue/internal/outcome"
)

// logPatience is how long lines and progress are gathered before they are
// written.
const logPatience = 200 * time.Millisecond

// loop is what the engine's one goroutine owns. It syncs with the database in
// one transaction at a time: what happens meanwhile goes into the next one.
type loop struct {
	e        *Engine
	hard     context.Context // ends when Stop gives up
	handlers map[string]Handler
	agenda   agenda

	attempts attempts
	claims   claims
	gather   gather
	aside    aside
	recovery recovery

	trouble  service.Backoff // of the database
	why      error           // of the trouble
	stopping bool
}

func newLoop(hard context.Context, e *Engine, handlers map[string]Handler) *loop {
	patience := service.Backoff{Least: 100 * time.Millisecond, Most: 10 * time.Second}
	return &loop{
		e: e, hard: hard, handlers: handlers, attempts: newAttempts(), claims: newClaims(handlers), aside: newAside(),
		recovery: recovery{trouble: patience}, trouble: patience,
	}
}

// run returns the jobs that are still in flight, and why.
func (l *loop) run(soft context.Context) []string {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var err error
	if l.claims.turn.Group, err = l.e.store.LastGroup(l.hard, service.WorkerName(l.e.cfg.Name)); err != nil {
		l.e.observer.Trouble(err, 0)
	}
	l.agenda.set(lookOverdue, time.Now())
	stop := soft.Done()
	for {
		l.readInbox(time.Now())
		if l.hard.Err() == nil {
			l.work(time.Now())
		}
		if l.finished(time.Now()) {
			return l.leave()
		}
		l.plan(time.Now())
		timer.Reset(time.Until(l.agenda.next(time.Now())))
		select {
		case <-l.e.life.Woken():
		case <-timer.C:
		case <-stop:
			stop = nil
			l.shutDown(time.Now())
		case <-l.hard.Done():
		}
	}
}

// readInbox handles what the handlers and the watcher have reported.
func (l *loop) readInbox(now time.Time) {
	m := l.e.inbox.open(now, logPatience)
	l.agenda.set(readLogs, m.logsAt)
	for a := range m.logged {
		if a.phase == lost {
			a.log.Fetch() // and drop it
		} else {
			a.fetch(false)
		}
	}
	for _, e := range m.returned {
		l.returned(e)
	}
	if m.changed {
		l.claims.changed()
		l.aside.hurry(now)
		l.agenda.sooner(lookCancels, now.Add(cancelPause))
	}
}

// returned decides what follows for a job after its handler has returned.
func (l *loop) returned(e ended) {
	a := e.attempt
	l.gather.ended(a.round)
	l.claims.ended()
	if a.phase == lost {
		l.attempts.drop(a)
		return
	}
	a.fetch(true)
	a.percent = -1 // the transition sets it
	a.err = e.Err
	a.end = l.e.cfg.Limited(a.limits).Decide(a.job, e.Returned, rand.Float64())
	a.end.Worker = l.e.worker
	a.phase = ending
}

// work does what is due in the database.
func (l *loop) work(now time.Time) {
	for _, do := range []func(time.Time) error{l.renew, l.lookOverdue, l.lookCancels, l.retryAlone, l.sync} {
		if err := do(now); err != nil {
			if l.hard.Err() == nil { // the work stays planned
				wait := l.trouble.Next()
				l.agenda.downUntil, l.why = time.Now().Add(wait), err
				l.e.pulse.Beat(err)
				l.e.observer.Trouble(err, wait)
			}
			return
		}
	}
	if now.Before(l.agenda.downUntil) {
		return
	}
	l.agenda.downUntil = time.Time{}
	l.trouble.Reset()
	l.e.pulse.Beat(nil)
	if len(l.aside.reports()) == 0 {
		l.agenda.clear(giveUp)
	}
}

// plan sets the times that follow from the jobs in flight.
func (l *loop) plan(now time.Time) {
	l.agenda.clear(report)
	l.agenda.clear(claim)
	if len(ready(&l.attempts, &l.aside)) > 0 || l.claims.replyLost {
		l.agenda.set(report, now)
	}
	if at, planned := l.claims.when(); planned && l.room() > 0 {
		l.agenda.set(claim, later(now, at))
	}
	if l.gather.waits(now) {
		l.agenda.set(report, l.gather.until)
		l.agenda.notBefore(claim, l.gather.until)
	} else if l.gather.fresh > 1 {
		l.e.inbox.expect(0) // each end wakes the loop from now on
	}
	l.agenda.set(retryAlone, l.aside.next(l.room()))
	if len(l.attempts.byJID) == 0 {
		l.agenda.clear(renew)
		l.agenda.clear(lookCancels)
	}
	l.planGiveUp(now)
}

// room is for how many jobs more there is room.
func (l *loop) room() int {
	if l.stopping {
		return 0
	}
	return l.attempts.room(l.e.cfg.PoolSize)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// apply updates an attempt by the status of its job in the database.
func (l *loop) apply(a *attempt, s backend.JobStatus) step {
	what := a.after(s, l.e.worker)
	switch what {
	case keep:
	case stop:
		a.cancel(outcome.ErrCancelled)
	case turnCancel:
		a.end.To, a.end.Interrupted = backend.Cancelled, false
	case settle:
		l.settle(a)
	case lose:
		a.cancel(outcome.ErrLeaseLost)
		l.attempts.lose(a)
		l.aside.release(a.job.JID)
		l.e.observer.Lost(a.job)
	}
	return what
}

// settle lets go of a job whose end is recorded.
func (l *loop) settle(a *attempt) {
	l.attempts.drop(a)
	l.aside.release(a.job.JID)
	if a.end.To == backend.Stuck && !l.stopping {
		l.agenda.sooner(lookOverdue, time.Now().Add(a.end.Delay+time.Millisecond))
	}
	l.e.observer.Ended(a.job, a.end.To, time.Since(a.began), a.err)
}

// begin calls the handler of a job. The claim began at the time claimed, from which
// the lease counts.
func (l *loop) begin(job backend.Job, claimed time.Time) {
	if old := l.attempts.byJID[job.JID]; old != nil { // another worker had taken it, and it is claimed here again
		l.apply(old, backend.JobStatus{})
	}
	a := &attempt{job: job, percent: -1, began: time.Now(), round: l.gather.round}
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(l.hard))
	a.log = joblog.New(a.ctx, job.JID, func(urgent bool) { l.e.inbox.logged(a, urgent) })
	// A timer ends the lease, since the loop may be waiting for the database.
	a.lease = time.AfterFunc(time.Until(claimed.Add(l.e.cfg.Lease)), func() {
		if context.Cause(a.ctx) == nil {
			l.e.observer.Lost(a.job)
			a.cancel(outcome.ErrLeaseLost)
		}
	})
	l.attempts.add(a)
	if !l.agenda.planned(renew) {
		l.agenda.set(renew, claimed.Add(l.e.cfg.Heartbeat))
	}
	if !l.agenda.planned(lookCancels) {
		l.agenda.set(lookCancels, claimed.Add(cancelInterval))
	}
	l.e.observer.Begun(job)
	handler := l.handlers[job.Task]
	a.limits = job.Limits.Over(handler.Limits)
	go a.run(handler, l.e.inbox.ended)
}
