package executor

import (
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// overdueLimit is how many jobs are rescued in one transaction.
const overdueLimit = 500

// rescues are what one look for jobs to rescue leaves for the next.
type rescues struct {
	dead    map[string]int64 // workers that have died, and the beat at which they did
	done    int              // jobs that were rescued
	trouble service.Backoff
}

// rescueOverdue rescues jobs of dead workers, lets jobs wait again whose retry is due, and polls.
// Its failure delays no other work.
func (l *loop) rescueOverdue(now time.Time) error {
	wait, err := l.rescue(now)
	l.claims.look(1)
	switch {
	case err == nil:
		l.rescues.trouble.Reset()
	case l.soft.Err() != nil:
		l.agenda.clear(rescueOverdue)
		return nil //nolint:nilerr // the loop stops, and leaves these jobs to others
	default:
		wait = l.rescues.trouble.Next()
		l.e.emit(Event{Kind: EventTrouble, Err: err, Duration: wait})
	}
	l.agenda.set(rescueOverdue, now.Add(wait))
	return nil
}

// rescue returns how long to wait before the next look.
func (l *loop) rescue(now time.Time) (time.Duration, error) {
	overdue, err := l.e.store.Overdue(l.soft, exchange.OverdueQuery{
		Dead: slices.Sorted(maps.Keys(l.rescues.dead)), Limit: overdueLimit, Except: l.aside.notToRescue(now),
	})
	if err != nil {
		return 0, err
	}
	var items []item
	for _, job := range overdue.Dead {
		items = append(items, rescueBy(l.e.cfg.workerDied(job, l.rescues.dead[job.Worker])))
	}
	for _, job := range overdue.Due {
		if job.Worker != l.e.worker || l.flight.byJID[job.JID] == nil {
			items = append(items, rescueBy(l.e.cfg.retryDue(job)))
		}
	}
	before := l.rescues.done
	if err = l.exchange(items, exchange.Claim{}, now); err != nil || overdue.More && l.rescues.done > before {
		return 0, err
	}
	l.rescues.dead = nil // the watch names those again of which a job is left
	if overdue.Next < 0 {
		return l.e.cfg.PollInterval, nil
	}
	return min(l.e.cfg.PollInterval, overdue.Next), nil
}

// rescued notes that a job which is not in flight here has made its transition.
func (l *loop) rescued(t exchange.Transition) {
	l.rescues.done++
	l.aside.release(t.JID)
	if t.Dead {
		l.e.emit(Event{Kind: EventInterrupted, Job: jobqueue.Job{JID: t.JID}, Worker: t.Worker, State: t.To})
	}
}
