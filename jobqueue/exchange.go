package jobqueue

import (
	"cmp"
	"maps"
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

// gathering is until when the ends of jobs that have just begun are gathered;
// after that each of them wakes the loop.
func (l *loop) gathering(now time.Time) time.Time {
	if !l.gatherTo.After(now) {
		l.e.inbox.expect(0)
		return now.Add(time.Hour)
	}
	return l.gatherTo
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
	if l.unheard {
		sooner(time.Time{})
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
		if len(o.Lines) == 0 || len(o.Lines)+len(a.pending) <= maxExchangeLines && bytes <= maxExchangeBytes {
			bytes += l.tell(&o, a, now)
		}
	}
	slices.SortFunc(o.End, func(a, b Ending) int { return cmp.Compare(a.JID, b.JID) })
	slices.SortFunc(o.Begin, func(a, b Beginning) int { return cmp.Compare(a.JID, b.JID) })
	if o.Unheard = l.unheard; o.Unheard {
		o.InHand = slices.Collect(maps.Keys(l.byJID))
	}
	if free := l.free(); l.look > 0 && !l.stopping && free > 0 && !l.lookAt.After(now) {
		o.Claim = l.claim(free, now)
	}
	return o
}

// tell adds what is to be told of an attempt, and returns the bytes of its
// lines.
func (l *loop) tell(o *Orders, a *attempt, now time.Time) (bytes int) {
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
		o.Begin = append(o.Begin, Beginning{JID: a.job.JID, Line: l.beginning(a.job)})
	case a.percent >= 0:
		o.Progress = append(o.Progress, Progress{JID: a.job.JID, Percent: a.percent})
	}
	return bytes
}

func (l *loop) claim(limit int, now time.Time) Claim {
	c := Claim{
		Limit: limit, Tasks: l.tasks, Groups: l.cfg.Groups,
		Group: l.group, Phase: l.phase, High: l.cfg.High, Low: l.cfg.Low, Line: l.beginning,
	}
	if now.Before(l.kindsTo) {
		c.Kinds = l.kinds
	}
	if now.Sub(l.recorded) >= recordPause {
		c.Name = l.cfg.Name
	}
	return c
}

// beginning is the line of the job log that tells of an attempt.
func (l *loop) beginning(job Job) Line {
	c := JobContext{Job: job}
	return newLine(job.JID, Info, "attempt "+strconv.Itoa(c.Attempt())+" begins on "+l.e.worker)
}

// exchange does what is due, once it is worth it.
func (l *loop) exchange(now time.Time) error {
	if l.gathered(now) != now {
		return nil
	}
	if l.failures >= patientFailures {
		return l.exchangeSingly(now)
	}
	return l.carryOut(l.orders(now), now)
}

// carryOut carries orders out and takes in the report.
func (l *loop) carryOut(o Orders, now time.Time) error {
	if o.Empty() {
		return nil
	}
	asked := time.Now()
	report, err := l.e.store.Exchange(l.hard, o)
	if err != nil {
		l.unheard = l.unheard || o.Claim.Limit > 0
		return err
	}
	l.unheard = l.unheard && !o.Unheard
	l.written(o, report)
	for _, jid := range report.Ended {
		l.settle(l.byJID[jid])
	}
	took := time.Since(asked)
	later := time.Now().Add(lockedPause)
	for _, s := range report.Missed {
		l.missed(l.byJID[s.JID], s, later)
	}
	l.claimed(o.Claim, report, now)
	begun := report.Begun
	for _, job := range report.Claimed {
		if job.State == Running {
			begun = append(begun, job.JID)
		}
	}
	l.begun(begun, took)
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
