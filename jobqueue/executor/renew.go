package executor

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/jobqueue"
)

const (
	// cancelInterval is how often to look for cancellations while jobs run, in
	// case a notification was lost; cancelPause is the least time between two
	// looks.
	cancelInterval = 900 * time.Millisecond
	cancelPause    = 100 * time.Millisecond
)

// renewLeases renews the leases, and finds out which jobs were lost or cancelled.
func (f *flight) renewLeases(now time.Time) error {
	jids := f.jids()
	if len(jids) == 0 {
		return nil
	}
	f.agenda.set(renewLeases, now.Add(f.e.cfg.Heartbeat))
	err := f.beat(jids, false)
	if err != nil && f.e.store.Judge(err) != isolate.Database {
		found := isolate.Bisect(f.hard, jids, err, isolate.Search[string]{
			Judge: f.e.store.Judge,
			Try:   func(_ context.Context, jids []string, brief bool) error { return f.beat(jids, brief) },
		})
		for _, c := range found.Culprits {
			if a := f.byJID[c.Item]; a != nil && !a.stale {
				a.stale = true
				f.e.emit(Event{Kind: EventRefused, Job: jobqueue.Job{JID: c.Item}, Duration: f.e.cfg.Heartbeat, Err: c.Err})
			}
		}
		err = found.Err
	}
	if err != nil {
		f.agenda.set(renewLeases, now)
	}
	return err
}

// beat renews the leases of some jobs. Rows that somebody has locked are retried
// within the time of suspicion, in which others do not rescue the job yet.
func (f *flight) beat(jids []string, brief bool) error {
	asked := time.Now()
	list, err := f.e.store.Beat(f.hard, f.e.worker, jids, brief)
	if err != nil {
		return err
	}
	for _, s := range list {
		a := f.byJID[s.JID]
		if a == nil {
			continue
		}
		if what := f.applyStatus(a, s); what != lose && what != recorded {
			a.renewed(asked, f.e.cfg.Lease)
		}
		if s.Locked {
			f.agenda.sooner(renewLeases, asked.Add(f.e.cfg.suspicion()/2))
		}
		a.stale = false
	}
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
