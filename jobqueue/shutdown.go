package jobqueue

import (
	"context"
	"slices"
	"time"
)

// shutDown stops the claiming, returns what was not begun and gives the others
// their grace time.
func (l *loop) shutDown(now time.Time) {
	l.stopping = true
	l.emit(Event{Kind: EventStopping, Worker: l.e.worker, Count: len(l.hand)})
	l.graceEnd = now.Add(max(l.cfg.ShutdownGrace, 0))
	for a := range l.hand {
		if a.began.IsZero() && a.ending == nil {
			a.ending = &Ending{JID: a.job.JID, From: Scheduled, To: Waiting}
		}
	}
}

// finished reports whether the loop may end.
func (l *loop) finished(now time.Time) bool {
	if l.hard.Err() != nil {
		return true
	}
	if !l.stopping {
		return false
	}
	if !l.graceEnd.IsZero() && !now.Before(l.graceEnd) {
		l.graceEnd = time.Time{}
		for a := range l.hand {
			a.stop(ErrShutdown)
		}
	}
	return len(l.hand) == 0 && !l.unheard || !l.giveUp.IsZero() && now.After(l.giveUp)
}

// leave cancels what still runs and names it.
func (l *loop) leave() []string {
	var left []string
	for a := range l.hand {
		a.stop(ErrShutdown)
		left = append(left, a.job.JID)
	}
	slices.Sort(left)
	l.emit(Event{Kind: EventStopped, Worker: l.e.worker, Count: len(left)})
	return left
}

// expire cancels an attempt whose lease could not be renewed in time: somebody
// else may have it by now. It is not the loop that calls it, but a timer.
func (l *loop) expire(a *attempt) {
	if context.Cause(a.context) == nil {
		l.emit(Event{Kind: EventLost, Job: a.job})
		a.stop(ErrLeaseLost)
	}
}
