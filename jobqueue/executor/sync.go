package executor

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
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
	if err := l.compare(); err != nil {
		return err
	}
	items := l.flight.ready()
	items = items[:fitting(items)]
	var c exchange.Claim
	if room := l.flight.room(); room > 0 && l.claims.due(now) {
		c = l.claims.compose(l.e.cfg, room, now)
		c.Except = l.aside.of(claiming)
	}
	l.flight.short = 0
	l.send(items, c, now)
	return nil
}

// applyClaim begins the jobs that a claim has taken.
func (l *loop) applyClaim(c exchange.Claim, result exchange.Result) {
	for _, jid := range c.Only {
		if !slices.Contains(result.Chosen, jid) { // it moved on
			l.aside.release(jid)
		}
	}
	got := map[string]bool{}
	var begun []jobqueue.Job
	for _, job := range result.Claimed {
		if !job.State.Final() && job.State != jobqueue.Running { // a trigger has set another state: it would be claimed again and again
			continue
		}
		got[job.JID] = true
		l.aside.release(job.JID)
		if job.State == jobqueue.Running {
			begun = append(begun, job)
		}
	}
	if l.flight.closed && len(begun) > 0 { // the answer came late: they are to wait again
		l.claims.compare, begun = true, nil
	}
	l.flight.beginAll(begun)
	for _, job := range result.Claimed {
		if job.State.Final() {
			l.e.emit(Event{Kind: EventEnded, Job: job, State: job.State})
		}
	}
	for _, jid := range result.Chosen {
		if !got[jid] {
			_ = l.setAside(claimOf(jid), errUnchanged)
		}
	}
}

const (
	// compareInterval is how often an executor compares the jobs that it has with those that run under its id.
	compareInterval = 30 * time.Second
	// cancelInterval is how often to look for cancellations while jobs run, in
	// case a notification was lost; cancelPause is the least time between two
	// looks.
	cancelInterval = 2 * time.Second
	cancelPause    = 100 * time.Millisecond
)

func (l *loop) planCompare(now time.Time) error {
	l.claims.compare = true
	l.agenda.set(compareJobs, now.Add(l.e.tempo.compare))
	return nil
}

// compare sends jobs back to the queue that run under our id and are not in flight here, and gives up those in flight
// that another worker has. If it fails because of one of these jobs, the next comparison tries it again.
func (l *loop) compare() error {
	if !l.claims.compare {
		return nil
	}
	_, err := l.roundTrip(nil, exchange.Request{Worker: l.e.worker, Compare: true, InFlight: l.flight.jids()})
	if err != nil && l.e.store.Fault(err) == service.FaultDatabase {
		return err
	}
	if err != nil {
		l.e.emit(Event{Kind: EventTrouble, Err: err, Duration: compareInterval})
	}
	l.claims.compare = false
	return nil
}

// lookForCancels ends the contexts of jobs that somebody asked to cancel.
func (f *flight) lookForCancels(now time.Time) error {
	f.agenda.set(lookForCancels, now.Add(cancelInterval))
	jids, err := f.e.store.CancelRequests(f.hard, f.e.worker)
	if err != nil {
		return err
	}
	for _, jid := range jids {
		if a := f.byJID[jid]; a != nil {
			a.cancel(jobqueue.ErrCancelled)
		}
	}
	return nil
}
