package jobqueue

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// maxExchange bounds the lines of one transaction, in number and in bytes.
// The lines of one attempt always fit.
const (
	maxExchangeLines = 4 * maxLines
	maxExchangeBytes = 4 * maxLineBytes
)

// free is the number of jobs that may be claimed once those that have ended
// are recorded.
func (l *loop) free() int {
	busy := 0
	for a := range l.hand {
		if a.ending == nil {
			busy++
		}
	}
	return l.cfg.PoolSize - busy
}

// gathered puts off an exchange that is due while jobs which have just begun
// may end in time for it.
func (l *loop) gathered(due time.Time) time.Time {
	if l.fresh > 0 && l.gatherTo.After(due) {
		return l.gatherTo
	}
	return due
}

// ordersDue tells when the next exchange has something to do, if it has.
func (l *loop) ordersDue() (at time.Time, pending bool) {
	sooner := func(t time.Time) {
		if !pending || t.Before(at) {
			at, pending = t, true
		}
	}
	for a := range l.hand {
		if !a.gone && (a.ending != nil || a.began.IsZero() || len(a.pending) > 0 || a.percent >= 0) {
			sooner(a.notBefore)
		}
	}
	if l.look > 0 && !l.stopping && l.free() > 0 {
		sooner(l.lookAt)
	}
	return at, pending
}

// orders gathers what is to be told and asked.
func (l *loop) orders(now time.Time) Orders {
	o := Orders{Worker: l.e.worker}
	bytes := 0
	for a := range l.hand {
		if a.gone || a.notBefore.After(now) {
			continue
		}
		if len(o.Lines) > 0 && (len(o.Lines)+len(a.pending) > maxExchangeLines || bytes > maxExchangeBytes) {
			continue
		}
		o.Locked = o.Locked || !a.notBefore.IsZero()
		for _, line := range a.pending {
			line.Age = now.Sub(line.at)
			bytes += len(line.Message)
			o.Lines = append(o.Lines, line.Line)
		}
		switch {
		case a.ending != nil:
			o.End = append(o.End, *a.ending)
		case a.began.IsZero():
			o.Begin = append(o.Begin, l.beginning(a))
		case a.percent >= 0:
			o.Progress = append(o.Progress, Progress{JID: a.job.JID, Percent: a.percent})
		}
	}
	slices.SortFunc(o.End, func(a, b Ending) int { return cmp.Compare(a.JID, b.JID) })
	slices.SortFunc(o.Begin, func(a, b Beginning) int { return cmp.Compare(a.JID, b.JID) })
	if free := l.free(); l.look > 0 && !l.stopping && free > 0 && !l.lookAt.After(now) {
		o.Claim = Claim{
			Limit: free, Tasks: l.tasks, Groups: l.cfg.Groups,
			Group: l.group, Phase: l.phase, High: l.cfg.High, Low: l.cfg.Low,
		}
		if now.Before(l.kindsTo) {
			o.Claim.Kinds = l.kinds
		}
		if now.Sub(l.recorded) >= recordPause {
			o.Claim.Name = l.cfg.Name
		}
	}
	return o
}

func (l *loop) beginning(a *attempt) Beginning {
	c := JobContext{Job: a.job}
	line := newLine(a.job.JID, Info, "attempt "+strconv.Itoa(c.Attempt())+" begins on "+l.e.worker)
	return Beginning{JID: a.job.JID, Line: line}
}

// exchange carries the orders out and takes in the report.
func (l *loop) exchange(now time.Time) error {
	if l.gathered(now) != now {
		return nil
	}
	o := l.orders(now)
	if o.Empty() {
		return nil
	}
	asked := time.Now()
	report, err := l.e.store.Exchange(l.hard, o)
	if err != nil {
		return err
	}
	l.written(o, report)
	for _, jid := range report.Ended {
		l.settle(l.byJID[jid])
	}
	l.begun(report.Begun, time.Since(asked))
	later := time.Now().Add(lockedPause)
	for _, s := range report.Missed {
		l.missed(l.byJID[s.JID], s, later)
	}
	l.claimed(o.Claim, report, now)
	return nil
}

// begun calls the handlers of jobs that run now, and has their ends gathered
// for about as long as that took to write.
func (l *loop) begun(jids []string, took time.Duration) {
	l.round++
	if l.fresh = len(jids); l.fresh > 1 {
		l.gatherTo = time.Now().Add(min(took, maxGather))
		l.e.inbox.expect(l.fresh)
	}
	for _, jid := range jids {
		l.start(l.byJID[jid])
	}
}

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
