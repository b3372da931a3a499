package executor

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// A shutdown goes on trying to record the ends of jobs for giveUpAfter, once no handler runs. For the answer to a claim,
// which may have got jobs for nobody to run, it waits for claimWithin.
const (
	giveUpAfter = 5 * time.Second
	claimWithin = 500 * time.Millisecond
)

// shutDown ends the claiming and gives the jobs their grace time.
func (l *loop) shutDown(now time.Time) {
	l.flight.closed = true
	l.flight.withdraw(now, jobqueue.ErrShutdown)
	grace := max(l.e.cfg.ShutdownGrace, 0)
	l.e.emit(Event{Kind: EventStopping, Worker: l.e.worker, Count: l.flight.count(), Running: l.flight.atWork(), Grace: grace})
	l.agenda.set(cancelRunning, now.Add(grace))
	l.agenda.clear(rescueOverdue)
	l.aside.hurry(now)
	if l.agenda.downUntil.After(now) { // there is little time left: see at once whether the database is back
		l.agenda.downUntil = now
		l.trouble.Reset()
	}
}

// finished reports whether the loop may end.
func (l *loop) finished(now time.Time) bool {
	if l.agenda.due(cancelRunning, now) || l.hurried && l.agenda.planned(cancelRunning) {
		l.agenda.clear(cancelRunning)
		if running := l.flight.atWork(); running != "" {
			l.e.emit(Event{Kind: EventHurried, Worker: l.e.worker, Running: running})
		}
		for a := range l.flight.all {
			a.cancel(jobqueue.ErrShutdown)
		}
	}
	return l.hard.Err() != nil || l.agenda.due(giveUp, now) ||
		l.flight.closed && l.flight.count() == 0 && !l.claims.compare && !l.sent
}

// atWork are what people call the jobs whose handlers run.
func (f *flight) atWork() string {
	var names []string
	for a := range f.all {
		if a.phase != returned && a.admission.began() {
			names = append(names, cmp.Or(a.job.Tracker, a.job.Task))
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// handlersRun reports whether a handler has not returned yet.
func (f *flight) handlersRun() bool {
	for a := range f.all {
		if a.phase != returned {
			return true
		}
	}
	return false
}

// leave cancels what still runs, and says what is left and why. down is why the
// database cannot be reached, if so.
func (f *flight) leave(down error) []string {
	var left []string
	for a := range f.all {
		a.cancel(jobqueue.ErrShutdown)
		why := "its handler still runs"
		if a.phase == returned {
			why = "its end is not recorded"
			if err := cmp.Or(a.why, down); err != nil {
				why += ": " + err.Error()
			}
		}
		left = append(left, a.job.JID+" ("+why+")")
	}
	slices.Sort(left)
	return left
}
