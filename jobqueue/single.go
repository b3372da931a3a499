package jobqueue

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// patientFailures is after how many failures in a row a job is suspected to
	// be what the database does not take, a trigger of the user's for example.
	patientFailures = 3
	// sideline is how long such a job is left alone.
	sideline = time.Minute
)

// exchangeSingly tells of each job in a transaction of its own, so that one
// that cannot be told of holds up no other.
func (l *loop) exchangeSingly(now time.Time) error {
	if _, err := l.e.store.LastGroup(l.hard, l.cfg.Name); err != nil {
		return err // it is not a job's fault
	}
	var left error // while shutting down it limits how long to try
	for a := range l.hand {
		if a.gone || a.notBefore.After(now) {
			continue
		}
		o := Orders{Worker: l.e.worker}
		l.tell(&o, a, now)
		if err := l.carryOut(o, now); err != nil {
			a.notBefore = now.Add(sideline)
			err = fmt.Errorf("job %s: %w", a.job.JID, err)
			l.emit(Event{Kind: EventTrouble, Job: a.job, Duration: sideline, Err: err})
			if l.stopping {
				left = err
			}
		}
	}
	if l.unheard && left == nil {
		left = l.carryOut(Orders{Worker: l.e.worker, Unheard: true, InHand: slices.Collect(maps.Keys(l.byJID))}, now)
	}
	return left
}
