package jobqueue

import (
	"context"
	"math/rand/v2"
	"time"
)

// recoverLimit is how many jobs are taken back in one transaction.
const recoverLimit = 500

// beat renews the leases, and learns what was lost or cancelled.
func (l *loop) beat(now time.Time) error {
	if now.Before(l.beatAt) {
		return nil
	}
	l.beatAt = now.Add(l.cfg.Heartbeat)
	var jids []string
	for a := range l.hand {
		if !a.gone {
			jids = append(jids, a.job.JID)
		}
	}
	if len(jids) == 0 {
		return nil
	}
	standing, err := l.e.store.Beat(l.hard, l.e.worker, jids)
	if err != nil {
		l.beatAt = now
		return err
	}
	for _, s := range standing {
		a := l.byJID[s.JID]
		switch {
		case a == nil:
		case !l.owns(a, s):
			l.lose(a)
		default:
			a.renew(now, l.cfg.Lease)
			if s.Cancel {
				a.stop(ErrCancelled)
			}
		}
	}
	return nil
}

// owns reports whether the job is still this attempt's. An ending that was
// committed although the connection broke is settled by the next exchange.
func (l *loop) owns(a *attempt, s Standing) bool {
	if a.ending != nil && s.State == a.ending.To {
		return true
	}
	return s.Worker == l.e.worker && (s.State == Scheduled || s.State == Running)
}

// lose gives an attempt up, since another worker has the job or may have it.
func (l *loop) lose(a *attempt) {
	if a.gone {
		return
	}
	a.gone = true
	if l.byJID[a.job.JID] == a {
		delete(l.byJID, a.job.JID)
	}
	a.stop(ErrLeaseLost)
	l.emit(Event{Kind: EventLost, Job: a.job})
	if a.began.IsZero() || a.ending != nil {
		delete(l.hand, a)
	}
}

// check takes jobs back from dead workers and polls.
func (l *loop) check(now time.Time) error {
	if l.stopping || now.Before(l.checkAt) {
		return nil
	}
	// First, so that no job in hand looks dead although the clock has leapt.
	if !l.beatAt.Equal(now.Add(l.cfg.Heartbeat)) { // else it was done just now
		l.beatAt = now
		if err := l.beat(now); err != nil {
			return err
		}
	}
	rules := Rules{Lease: l.cfg.Lease, MaxInterrupts: l.cfg.MaxInterrupts, Limit: recoverLimit}
	recovery, err := l.e.store.Recover(l.hard, rules)
	if err != nil {
		l.unchecked(err, now)
		return nil
	}
	l.unrecovered = 0
	for _, s := range recovery.Interrupted {
		l.emit(Event{Kind: EventInterrupted, Job: Job{JID: s.JID}, State: s.State, Worker: s.Worker})
	}
	if recovery.Retried > 0 {
		l.emit(Event{Kind: EventRetried, Count: recovery.Retried})
	}
	wait := min(l.cfg.PollInterval, l.cfg.Lease)
	if recovery.Next >= 0 {
		wait = min(wait, recovery.Next)
	}
	if recovery.More {
		wait = 0
	}
	l.checkAt = now.Add(wait)
	l.look, l.lookAt = max(l.look, 1), time.Time{}
	return nil
}

// unchecked puts the next check off, and nothing else: one job that cannot be
// taken back must not keep the others from being run.
func (l *loop) unchecked(err error, now time.Time) {
	wait := pause(l.unrecovered)
	l.unrecovered++
	l.checkAt = now.Add(wait)
	l.look, l.lookAt = max(l.look, 1), time.Time{}
	if l.hard.Err() == nil {
		l.emit(Event{Kind: EventTrouble, Err: err, Duration: wait})
	}
}

// cancellations ends the contexts of jobs that somebody asked to cancel.
func (l *loop) cancellations(now time.Time) error {
	if len(l.hand) == 0 || now.Before(l.cancelAt) {
		return nil
	}
	l.cancelAt = now.Add(cancelInterval)
	jids, err := l.e.store.CancelRequests(l.hard, l.e.worker)
	if err != nil {
		return err
	}
	for _, jid := range jids {
		if a := l.byJID[jid]; a != nil {
			a.stop(ErrCancelled)
		}
	}
	return nil
}

// start calls the handler of a job that is running now.
func (l *loop) start(a *attempt) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(l.hard))
	a.began, a.context, a.cancel, a.round = time.Now(), ctx, cancel, l.round
	a.notes = newNotes(ctx, func(urgent bool) { l.e.inbox.noted(a, urgent) })
	// A timer, since the loop may be waiting for a database that does not answer.
	a.lease = time.AfterFunc(time.Until(a.renewed.Add(l.cfg.Lease)), func() { l.expire(a) })
	l.emit(Event{Kind: EventBegun, Job: a.job})
	go a.run(ctx, l.e.handlers[a.job.Task], l.e.inbox.ended)
}

// ended decides how a job goes on whose handler has returned.
func (l *loop) ended(o outcome) {
	a := o.attempt
	if a.round == l.round {
		l.fresh--
	}
	if a.gone {
		delete(l.hand, a)
		return
	}
	a.fetch(true)
	a.percent = -1 // the transition sets it
	a.err = o.err
	end := l.cfg.decide(a.job, o, rand.Float64())
	a.ending = &end
}
