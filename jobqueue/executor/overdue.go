package executor

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor/internal/outcome"
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
}

// suspicion is how long the heartbeat of a job must stay old before the job is taken
// from its worker. Meanwhile a healthy worker can renew a lease that it could not
// renew in time because the row was locked or the clock jumped.
func (c Config) suspicion() time.Duration { return min(time.Second, c.Heartbeat) }

// lookOverdue takes jobs back from dead workers, puts stuck jobs back to waiting, and
// polls. Its failure delays no other work.
func (l *loop) lookOverdue(now time.Time) error {
	// First renew, so that no job in flight looks dead after a jump of the clock.
	if !l.agenda.at[renew].Equal(now.Add(l.e.cfg.Heartbeat)) { // otherwise renewed in this round
		if err := l.flight.renew(now); err != nil {
			return err
		}
	}
	wait, err := l.takeBack(now, nil)
	if !l.e.Idle() {
		l.claims.look(1)
		l.agenda.sooner(lookEnded, now.Add(endedLook))
	}
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

// endedLook is when to ask whether other workers have jobs, and have ended, after
// something has changed.
const endedLook = 500 * time.Millisecond

// lookEnded takes jobs back from workers of which the database knows that they have
// ended. As long as other workers have jobs it is repeated.
func (l *loop) lookEnded(now time.Time) error {
	workers, again, err := l.e.store.Ended(l.hard, l.e.worker)
	if err == nil && len(workers) > 0 {
		_, err = l.takeBack(now, workers)
	}
	switch {
	case err != nil && l.e.store.Judge(err) == isolate.Database:
		return err
	case err != nil:
		again = l.recovery.trouble.Next()
		l.e.observer.Trouble(err, again)
	}
	if l.agenda.clear(lookEnded); again > 0 {
		l.agenda.set(lookEnded, now.Add(again))
	}
	return nil
}

// takeBack takes jobs back whose leases have ended, or whose workers have. It returns how
// long to wait before the next look.
func (l *loop) takeBack(now time.Time, ended []string) (time.Duration, error) {
	overdue, err := l.e.store.Overdue(l.hard, jobdb.OverdueQuery{
		Lease: l.e.cfg.Lease, Ended: ended, Limit: overdueLimit, Except: l.aside.notDue(now),
	})
	l.e.idle.Store(err == nil && overdue.Idle)
	if err != nil {
		return 0, err
	}
	ours := func(job jobqueue.Job) bool { return job.Worker == l.e.worker && l.flight.byJID[job.JID] != nil }
	jobs := slices.DeleteFunc(append(overdue.Dead, overdue.Due...), ours)
	left := slices.DeleteFunc(overdue.Left, ours)
	items, wait := l.recovery.choose(jobs, left, l.e.cfg, now)
	if overdue.Idle {
		wait = l.e.cfg.PollInterval
	} else if overdue.Next >= 0 {
		wait = min(wait, overdue.Next)
	}
	if len(items) > 0 {
		crashpoint.At("executor/overdue-found")
	}
	err = l.deliver(items, jobdb.Claim{}, now)
	took := l.recovery.took(items)
	reportTaken(took, l.e.observer)
	if len(took) > 0 && overdue.More {
		wait = 0
	}
	return wait, err
}

// choose returns the jobs to take back now, with their transitions, and how long to
// wait before the next look. The others that have a worker stay suspects.
func (r *recovery) choose(jobs, left []jobqueue.Job, cfg Config, now time.Time) (items []item, wait time.Duration) {
	wait = min(cfg.PollInterval, cfg.Lease)
	before := r.suspects
	r.suspects = map[string]suspect{}
	for _, job := range left { // that their workers have ended was confirmed already
		s := before[job.JID]
		t := cfg.policy().Left(job)
		items = append(items, item{jid: job.JID, transition: &t})
		r.suspects[job.JID] = s
	}
	for _, job := range jobs {
		if _, taken := r.suspects[job.JID]; taken {
			continue
		}
		s, seen := before[job.JID]
		if sign := later(job.Heartbeat, job.Retry); !seen || !s.heartbeat.Equal(sign) {
			s = suspect{heartbeat: sign, since: now}
		}
		left := s.since.Add(cfg.suspicion()).Sub(now)
		if outcome.HasWorker(job) && left > 0 {
			wait = min(wait, left)
		} else {
			t := cfg.policy().Abandoned(job)
			items = append(items, item{jid: job.JID, transition: &t})
		}
		r.suspects[job.JID] = s
	}
	return items, wait
}

// took are the transitions of the items whose jobs were taken back.
func (r *recovery) took(items []item) (took []jobdb.Transition) {
	for _, it := range items {
		if _, left := r.suspects[it.jid]; !left {
			took = append(took, *it.transition)
		}
	}
	return took
}

func reportTaken(took []jobdb.Transition, observer events) {
	retried := 0
	for _, t := range took {
		switch t.From {
		case jobqueue.Waiting: // its time has come
		case jobqueue.Stuck:
			retried++
		default:
			observer.Interrupted(t.JID, t.Worker, t.To)
		}
	}
	if retried > 0 {
		observer.Retried(retried)
	}
}
