package engine

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue/internal/outcome"
)

// giveUpAfter is how long a shutdown goes on trying to record the ends of jobs,
// once no handler that has grace time left runs.
const giveUpAfter = 5 * time.Second

// shutDown ends the claiming and gives the jobs their grace time.
func (l *loop) shutDown(now time.Time) {
	l.stopping = true
	l.e.observer.Stopping(l.attempts.count())
	l.agenda.set(endGrace, now.Add(max(l.e.cfg.ShutdownGrace, 0)))
	l.agenda.clear(lookOverdue)
	if l.agenda.downUntil.After(now) { // there is little time left: see at once whether the database is back
		l.agenda.downUntil = now
		l.trouble.Reset()
	}
}

// finished reports whether the loop may end.
func (l *loop) finished(now time.Time) bool {
	if l.agenda.due(endGrace, now) {
		l.agenda.clear(endGrace)
		for a := range l.attempts.all {
			a.cancel(outcome.ErrShutdown)
		}
	}
	return l.hard.Err() != nil || l.agenda.due(giveUp, now) ||
		l.stopping && l.attempts.count() == 0 && !l.claims.replyLost
}

// planGiveUp bounds the time for ends that the database does not take.
func (l *loop) planGiveUp(now time.Time) {
	switch down := l.agenda.down(); {
	case !l.stopping || !down && len(l.aside.reports()) == 0:
	case onlyUnwritable(&l.attempts, &l.aside, down):
		l.agenda.sooner(giveUp, now.Add(min(giveUpAfter, l.e.cfg.Lease)))
	default:
		l.agenda.sooner(giveUp, later(now, l.agenda.at[endGrace]).Add(min(giveUpAfter, l.e.cfg.Lease)))
	}
}

// onlyUnwritable reports whether all handlers have returned and the database takes
// none of the ends.
func onlyUnwritable(attempts *attempts, aside *aside, down bool) bool {
	for a := range attempts.all {
		if a.phase != ending || !down && !aside.hasReport(a.job.JID) {
			return false
		}
	}
	return true
}

// leave cancels what still runs, and says what is left and why.
func (l *loop) leave() []string {
	var left []string
	var down error // why the database cannot be reached
	if l.agenda.down() {
		down = l.why
	}
	for a := range l.attempts.all {
		a.cancel(outcome.ErrShutdown)
		left = append(left, a.job.JID+" ("+whyLeft(a, down)+")")
	}
	slices.Sort(left)
	return left
}

func whyLeft(a *attempt, down error) string {
	switch {
	case a.phase != ending:
		return "its handler still runs"
	case a.why != nil:
		return "its end cannot be recorded: " + a.why.Error()
	case down != nil:
		return "its end cannot be recorded: " + down.Error()
	}
	return "its end is not recorded yet"
}
