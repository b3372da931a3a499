package executor

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/jobqueue"
)

// sync handles the answer to the last sync. If there is no other on its way, it sends the reports of attempts,
// and a claim if there is room for jobs.
func (l *loop) sync(now time.Time) error {
	if a := l.arrived; a != nil {
		l.arrived = nil
		if err := l.handleAnswer(*a); err != nil {
			return err
		}
	}
	if l.sent {
		return nil
	}
	if err := l.unclaimUnanswered(); err != nil {
		return err
	}
	items := l.flight.ready()
	items = items[:fitting(items)]
	var c jobdb.Claim
	if room := l.flight.room(); room > 0 && l.claims.due(now) {
		c = l.claims.compose(l.e.cfg, room, now)
		c.Except = l.aside.Keys(claiming)
	}
	l.flight.short = 0
	l.send(items, c, now)
	return nil
}

// applyClaim begins the jobs that a claim has taken.
func (l *loop) applyClaim(c jobdb.Claim, result jobdb.Result, asked time.Time) {
	for _, jid := range c.Only {
		if !slices.Contains(result.Chosen, jid) { // it moved on
			l.aside.Release(jid)
		}
	}
	got := map[string]bool{}
	var begun []jobqueue.Job
	for _, job := range result.Claimed {
		if !job.State.Final() && job.State != jobqueue.Running { // a trigger has set another state: it would be claimed again and again
			continue
		}
		got[job.JID] = true
		l.aside.Release(job.JID)
		if job.State == jobqueue.Running {
			begun = append(begun, job)
		}
	}
	if l.flight.closed && len(begun) > 0 { // the answer came late: they are to wait again
		l.claims.replyLost, begun = true, nil
	}
	if len(got) > 0 {
		l.e.emit(Event{Kind: EventClaimed, Count: len(got)})
	}
	l.flight.beginAll(begun, asked)
	for _, job := range result.Claimed {
		if job.State.Final() {
			l.e.emit(Event{Kind: EventEnded, Job: job, State: job.State})
		}
	}
	for _, jid := range result.Chosen {
		if !got[jid] {
			l.setAside([]item{claimOf(jid)}, isolate.Row, errUnchanged)
		}
	}
}

// unclaimUnanswered has the jobs of a claim whose reply was lost wait again. If it fails because of
// one of these jobs, they are rescued when their lease ends.
func (l *loop) unclaimUnanswered() error {
	if !l.claims.replyLost {
		return nil
	}
	_, err := l.roundTrip(jobdb.Request{Worker: l.e.worker, ReplyLost: true, InFlight: l.flight.jids()})
	if err != nil && l.e.store.Judge(err) == isolate.Database {
		return err
	}
	if err != nil {
		l.e.emit(Event{Kind: EventTrouble, Err: err, Duration: l.e.cfg.Lease})
	}
	l.claims.replyLost = false
	return nil
}
