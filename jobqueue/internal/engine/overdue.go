package engine

import (
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/backend"
	"github.com/nextrun/nextrun/jobqueue/internal/outcome"
)

// overdueLimit is how many jobs are taken back in one transaction.
const overdueLimit = 500

// recovery is what one look for overdue jobs leaves for the next.
type recovery struct {
	suspects map[string]suspect
	trouble  service.Backoff
}

// suspect is a job whose lease had ended when it was first seen.
type suspect struct {
	heartbeat time.Time
	since     time.Time
	tries     int // to take it back
}

// suspicion is how long the heartbeat of a job must stay old before the job is taken
// from its worker. Meanwhile a healthy worker can renew a lease that it could not
// renew in time because the row was locked or the clock jumped.
func (c Config) suspicion() time.Duration { return min(time.Second, c.Heartbeat) }

// lookOverdue takes jobs back from dead workers, puts stuck jobs back to waiting, and
// polls. Its failure delays no other work.
func (l *loop) lookOverdue(now time.Time) error {
	if !l.agenda.due(lookOverdue, now) {
		return nil
	}
	// First renew, so that no job in flight looks dead after a jump of the clock.
	if !l.agenda.at[renew].Equal(now.Add(l.e.cfg.Heartbeat)) { // otherwise renewed in this round
		l.agenda.set(renew, now)
		if err := l.renew(now); err != nil {
			return err
		}
	}
	l.claims.look(1)
	wait, err := l.takeBack(now)
	if err != nil {
		wait = l.recovery.trouble.Next()
		if l.hard.Err() == nil {
			l.e.observer.Trouble(err, wait)
		}
	} else {
		l.recovery.trouble.Reset()
	}
	l.agenda.set(lookOverdue, now.Add(wait))
	return nil
}

// takeBack returns how long to wait before the next look.
func (l *loop) takeBack(now time.Time) (time.Duration, error) {
	overdue, err := l.e.store.Overdue(l.hard, backend.OverdueQuery{
		Lease: l.e.cfg.Lease, Limit: overdueLimit, Except: l.aside.notDue(now),
	})
	if err != nil {
		return 0, err
	}
	wait := min(l.e.cfg.PollInterval, l.e.cfg.Lease)
	if overdue.Next >= 0 {
		wait = min(wait, overdue.Next)
	}
	before := l.recovery.suspects
	l.recovery.suspects = map[string]suspect{}
	var items []item
	for _, job := range append(overdue.Dead, overdue.Due...) {
		if job.Worker == l.e.worker && l.attempts.byJID[job.JID] != nil {
			continue
		}
		s, seen := before[job.JID]
		if sign := later(job.Heartbeat, job.Retry); !seen || !s.heartbeat.Equal(sign) {
			s = suspect{heartbeat: sign, since: now}
		}
		if left := s.since.Add(l.e.cfg.suspicion()).Sub(now); outcome.HasWorker(job) && left > 0 {
			wait = min(wait, left)
			l.recovery.suspects[job.JID] = s
			continue
		}
		t := l.e.cfg.Abandoned(job)
		s.tries++
		l.recovery.suspects[job.JID] = s
		items = append(items, item{jid: job.JID, transition: &t})
	}
	err = l.deliver(items, backend.Claim{}, now)
	if took := tookBack(l, items); took > 0 && overdue.More {
		wait = 0
	}
	return wait, err
}

// tookBack reports what became of the jobs that were to be taken back, and
// returns how many were.
func tookBack(l *loop, items []item) int {
	interrupted, retried, begins := 0, 0, 0
	for _, it := range items {
		t := it.transition
		s, left := l.recovery.suspects[it.jid]
		switch {
		case left && s.tries > 1 && !l.aside.overdue.Has(it.jid):
			l.setAside([]item{it}, isolate.Row, errUnchanged)
		case left:
		case t.From == backend.Waiting:
			begins++
		case t.From == backend.Stuck:
			retried++
		default:
			interrupted++
			l.e.observer.Interrupted(it.jid, t.Worker, t.To)
		}
	}
	if retried > 0 {
		l.e.observer.Retried(retried)
	}
	return interrupted + retried + begins
}
