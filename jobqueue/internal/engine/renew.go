package engine

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/jobqueue/backend"
	"github.com/nextrun/nextrun/jobqueue/internal/outcome"
)

const (
	// cancelInterval is how often to look for cancellations while jobs run, in
	// case a notification was lost; cancelPause is the least time between two
	// looks.
	cancelInterval = 900 * time.Millisecond
	cancelPause    = 100 * time.Millisecond
)

// renew renews the leases, and finds out which jobs were lost or cancelled.
func (l *loop) renew(now time.Time) error {
	if !l.agenda.due(renew, now) {
		return nil
	}
	jids := l.attempts.jids()
	if len(jids) == 0 {
		return nil
	}
	l.agenda.set(renew, now.Add(l.e.cfg.Heartbeat))
	err := l.beat(jids, false)
	if err != nil && l.e.store.Judge(err) != isolate.Database {
		found := isolate.Bisect(l.hard, jids, err, isolate.Search[string]{
			Judge: l.e.store.Judge,
			Try:   func(_ context.Context, jids []string, brief bool) error { return l.beat(jids, brief) },
		})
		for _, c := range found.Culprits {
			if l.aside.renewals.Add(c.Item, now) {
				l.e.observer.Refused([]backend.Job{{JID: c.Item}}, l.e.cfg.Heartbeat, c.Err)
			}
		}
		err = found.Err
	}
	if err != nil {
		l.agenda.set(renew, now)
	}
	return err
}

// beat renews the leases of some jobs. Rows that somebody has locked are retried
// within the time of suspicion, in which others do not take the job yet.
func (l *loop) beat(jids []string, brief bool) error {
	asked := time.Now()
	list, err := l.e.store.Beat(l.hard, l.e.worker, jids, brief)
	if err != nil {
		return err
	}
	for _, s := range list {
		a := l.attempts.byJID[s.JID]
		if a == nil {
			continue
		}
		if what := l.apply(a, s); what != lose && what != settle {
			a.renewed(asked, l.e.cfg.Lease)
		}
		if s.Locked {
			l.agenda.sooner(renew, asked.Add(l.e.cfg.suspicion()/2))
		}
		l.aside.renewals.Release(s.JID)
	}
	return nil
}

// lookCancels ends the contexts of jobs that somebody asked to cancel.
func (l *loop) lookCancels(now time.Time) error {
	if !l.agenda.due(lookCancels, now) || len(l.attempts.byJID) == 0 {
		return nil
	}
	l.agenda.set(lookCancels, now.Add(cancelInterval))
	jids, err := l.e.store.CancelRequests(l.hard, l.e.worker)
	if err != nil {
		return err
	}
	for _, jid := range jids {
		if a := l.attempts.byJID[jid]; a != nil {
			a.cancel(outcome.ErrCancelled)
		}
	}
	return nil
}
