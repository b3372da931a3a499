package executor

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// logPatience is how long lines and progress are gathered before they are
// written, while jobs run.
const logPatience = 200 * time.Millisecond

// loop is what the executor's one goroutine owns. It syncs with the database in one request at a time: see
// exchange.go.
type loop struct {
	e        *Executor
	soft     context.Context // ends when Stop begins
	hard     context.Context // ends when Stop gives up
	flight   flight
	agenda   agenda
	claims   claims
	aside    aside
	answers  chan answer // of capacity 1
	arrived  *answer     // for the next sync
	sent     bool        // a sync has no answer yet, or one that is not handled
	answered bool        // one has got an answer without an error since the last round that succeeded or failed
	rescues  rescues
	trouble  service.Backoff // of the database
	why      error           // of the trouble; nil: there is none
	hurried  bool            // a shutdown has no grace time
}

func newLoop(soft, hard context.Context, e *Executor, handlers map[string]handler) *loop {
	patience := service.Backoff{Least: 100 * time.Millisecond, Most: 10 * time.Second}
	l := &loop{
		e: e, soft: soft, hard: hard, claims: newClaims(handlers), aside: aside{}, answers: make(chan answer, 1),
		rescues: rescues{trouble: patience}, trouble: patience,
	}
	l.flight = flight{
		attempts: newAttempts(e.cfg.PoolSize), e: e, hard: hard, handlers: handlers, agenda: &l.agenda, aside: l.aside,
		places: make(chan struct{}, e.cfg.PoolSize),
	}
	return l
}

// run returns the jobs that are still in flight, and why.
func (l *loop) run() []string {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var err error
	l.e.pulse.Goes()
	if l.claims.turn.Group, err = l.e.store.LastGroup(l.soft, service.WorkerName(l.e.cfg.Name)); err != nil {
		l.e.emit(Event{Kind: EventTrouble, Err: err})
	}
	l.agenda.set(rescueOverdue, time.Now())
	l.agenda.set(compareJobs, time.Now().Add(l.e.tempo.compare))
	stop := l.soft.Done()
	for {
		l.readInbox(time.Now())
		if l.agenda.due(unclaimWaiting, time.Now()) {
			l.flight.unclaimWaiting(time.Now())
		}
		if l.hard.Err() == nil {
			l.work(time.Now())
		}
		if l.finished(time.Now()) {
			return l.flight.leave(l.why)
		}
		l.plan(time.Now())
		timer.Reset(time.Until(l.agenda.next(time.Now())))
		l.e.pulse.Sleeps()
		select {
		case <-l.e.life.Woken():
		case a := <-l.answers:
			l.arrived = &a
		case <-timer.C:
		case <-stop:
			stop = nil
			l.shutDown(time.Now())
		case <-l.e.hurry:
			l.hurried = true
		case <-l.hard.Done():
		}
		l.e.pulse.Goes()
	}
}

// readInbox handles what the handlers and the watcher have reported.
func (l *loop) readInbox(now time.Time) {
	m := l.e.inbox.open()
	if l.agenda.due(fetchLogs, now) {
		l.agenda.clear(fetchLogs)
		l.flight.fetchLogs()
	}
	for _, r := range m.returned {
		l.claims.freed()
		l.flight.handlerReturned(r)
	}
	if m.changed {
		l.claims.changed()
		l.agenda.sooner(lookForCancels, now.Add(cancelPause))
		l.e.stir()
	}
	if l.claims.ready = l.claims.ready || m.lives; len(m.dead) > 0 {
		l.rescues.dead = m.dead
		l.agenda.set(rescueOverdue, now)
	}
}

// work does what is due in the database.
func (l *loop) work(now time.Time) {
	l.agenda.set(syncReports, now) // handlers may have returned since the plan
	for _, task := range []struct {
		duty duty
		do   func(time.Time) error
	}{
		{compareJobs, l.planCompare},
		{rescueOverdue, l.rescueOverdue},
		{lookForCancels, l.flight.lookForCancels},
		{retryAlone, l.retryAlone},
		{syncReports, l.sync},
	} {
		if !l.agenda.due(task.duty, now) {
			continue
		}
		err := task.do(now)
		if l.e.pulse.Goes(); err != nil {
			l.answered = false
			if l.hard.Err() == nil { // the work stays planned
				wait := l.trouble.Next()
				l.agenda.downUntil, l.why = time.Now().Add(wait), err
				l.e.pulse.Beat(err)
				l.e.emit(Event{Kind: EventTrouble, Err: err, Duration: wait})
			}
			return
		}
	}
	if now.Before(l.agenda.downUntil) {
		return
	}
	l.agenda.downUntil = time.Time{}
	if l.sent && !l.answered || !l.claims.ready {
		l.e.pulse.Goes() // nobody knows yet whether the database does what it is asked
		return
	}
	l.answered, l.why = false, nil
	l.trouble.Reset()
	l.e.pulse.Beat(nil)
}

// plan sets the times that follow from the jobs in flight.
func (l *loop) plan(now time.Time) {
	l.agenda.clear(syncReports)
	l.agenda.clear(wakeToClaim)
	l.agenda.clear(retryAlone)
	switch {
	case l.arrived != nil:
		l.agenda.set(syncReports, now)
	case !l.sent:
		l.planSync(now)
	}
	busy := len(l.flight.byJID) > 0
	if busy {
		l.agenda.sooner(fetchLogs, now.Add(logPatience))
	} else {
		l.agenda.clear(fetchLogs)
		l.agenda.clear(lookForCancels)
	}
	if !l.e.busy.Swap(busy) && busy {
		l.e.stir()
	}
	switch {
	case !l.flight.closed:
	case l.flight.count() == 0:
		l.agenda.sooner(giveUp, now.Add(claimWithin))
	case !l.flight.handlersRun():
		l.agenda.sooner(giveUp, now.Add(giveUpAfter))
	}
}

// planSync sets the times of the next sync, and of what goes only while none is on its way.
func (l *loop) planSync(now time.Time) {
	if len(l.flight.ready()) > 0 || l.claims.compare {
		l.agenda.set(syncReports, now)
	}
	if at, planned := l.claims.when(); planned && l.flight.room() > 0 {
		if at.Before(now) {
			at = now
		}
		l.agenda.set(wakeToClaim, at)
	}
	l.agenda.set(retryAlone, l.aside.next(l.flight.room()))
}
