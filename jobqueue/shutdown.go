package jobqueue

import (
	"slices"
	"time"
)

// giveUpAfter is how long after the grace time a shutdown goes on trying to
// record the ends of jobs.
const giveUpAfter = 5 * time.Second

// shutDown ends the claiming and gives the jobs their grace time.
func (l *loop) shutDown(now time.Time) {
	l.stopping = true
	l.e.emit(Event{Kind: EventStopping, Worker: l.e.worker, Count: l.attempts.count()})
	l.agenda.set(endGrace, now.Add(max(l.e.cfg.ShutdownGrace, 0)))
	l.agenda.clear(lookOverdue)
}

// finished reports whether the loop may end.
func (l *loop) finished(now time.Time) bool {
	if l.agenda.due(endGrace, now) {
		l.agenda.clear(endGrace)
		for a := range l.attempts.all {
			a.cancel(ErrShutdown)
		}
	}
	return l.hard.Err() != nil || l.agenda.due(giveUp, now) ||
		l.stopping && l.attempts.count() == 0 && !l.claims.replyLost
}

// leave cancels what still runs and names it.
func (l *loop) leave() []string {
	var left []string
	for a := range l.attempts.all {
		a.cancel(ErrShutdown)
		left = append(left, a.job.JID)
	}
	slices.Sort(left)
	l.e.emit(Event{Kind: EventStopped, Worker: l.e.worker, Count: len(left)})
	return left
}
