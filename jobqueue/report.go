package jobqueue

import (
	"slices"
	"time"
)

// written drops what was written from the attempts.
func (l *loop) written(o Orders, report Report) {
	held := map[string]bool{}
	for _, line := range report.Held {
		held[line.ID] = true
	}
	later := time.Now().Add(lockedPause)
	done := map[string]bool{}
	for _, line := range o.Lines {
		if a := l.byJID[line.JID]; a != nil && !done[line.JID] {
			done[line.JID] = true
			a.pending = slices.DeleteFunc(a.pending, func(d dated) bool { return !held[d.ID] })
			if len(a.pending) > 0 {
				a.notBefore = later
			} else if a.more {
				a.fetch(false)
			}
		}
	}
	for _, p := range o.Progress {
		if a := l.byJID[p.JID]; a != nil {
			a.percent = -1
		}
	}
}

// settle lets go of a job whose end is recorded.
func (l *loop) settle(a *attempt) {
	delete(l.hand, a)
	delete(l.byJID, a.job.JID)
	if a.ending.To == Stuck {
		if due := time.Now().Add(a.ending.Delay + time.Millisecond); due.Before(l.checkAt) {
			l.checkAt = due
		}
	}
	event := Event{Kind: EventEnded, Job: a.job, State: a.ending.To, Err: a.err}
	if !a.began.IsZero() {
		event.Duration = time.Since(a.began)
	}
	l.emit(event)
}

// missed deals with a job that did not go where it was ordered to.
func (l *loop) missed(a *attempt, s Standing, later time.Time) {
	switch {
	case a == nil:
	case a.ending != nil && s.State == a.ending.To && (s.Worker == l.e.worker || s.Worker == ""):
		l.settle(a) // committed, although the connection broke
	case s.Worker != l.e.worker:
		l.lose(a)
	case a.ending == nil && s.State == Running:
		l.start(a) // committed, although the connection broke
	case a.ending == nil && s.State == Scheduled && s.Cancel:
		a.ending = &Ending{JID: s.JID, From: Scheduled, To: Cancelled, Result: "cancelled before it began"}
	case a.ending != nil && s.State == a.ending.From && s.Cancel && !a.ending.To.Final():
		a.ending.To, a.ending.Interrupted = Cancelled, false
	case a.ending != nil && a.ending.From == Scheduled && s.State == Running:
		a.ending.From = Running // its beginning was committed, although the connection broke
	case s.State == Scheduled || s.State == Running:
		a.notBefore = later // somebody has the row locked
	default:
		l.lose(a)
	}
}

// claimed takes new jobs in hand.
func (l *loop) claimed(c Claim, report Report, now time.Time) {
	if c.Limit == 0 {
		return
	}
	if c.Name != "" && report.Group != l.group {
		l.recorded = now
	}
	l.group, l.phase = report.Group, report.Phase
	if l.kinds = report.Kinds; len(c.Kinds) == 0 {
		l.kindsTo = now.Add(kindsTime)
	}
	if len(report.Claimed) == 0 && len(c.Kinds) > 0 {
		return // of those kinds there are none left
	}
	if len(report.Claimed) == 0 {
		l.look--
		l.lookAt = now.Add(secondLook)
		return
	}
	l.look, l.lookAt = 2, time.Time{}
	l.emit(Event{Kind: EventClaimed, Count: len(report.Claimed)})
	for _, job := range report.Claimed {
		if old := l.byJID[job.JID]; old != nil {
			l.lose(old) // somebody took it from us and it came back
		}
		a := &attempt{job: job, renewed: now, percent: -1}
		l.hand[a], l.byJID[job.JID] = true, a
		if l.beatAt.Before(now) {
			l.beatAt = now.Add(l.cfg.Heartbeat)
		}
	}
}
