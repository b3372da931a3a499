package executor

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor/internal/outcome"
)

// overdueLimit is how many jobs are rescued in one transaction.
const overdueLimit = 500

// rescues is what one look for jobs to rescue leaves for the next.
type rescues struct {
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

// rescueOverdue rescues jobs from dead workers, lets jobs wait again whose retry is due, and polls.
// Its failure delays no other work.
func (l *loop) rescueOverdue(now time.Time) error {
	// First renew, so that no job in flight looks dead after a jump of the clock.
	if !l.agenda.at[renewLeases].Equal(now.Add(l.e.cfg.Heartbeat)) { // otherwise renewed in this turn
		if err := l.flight.renewLeases(now); err != nil {
			return err
		}
	}
	wait, err := l.rescue(now, nil)
	if !l.e.Idle() {
		l.claims.look(1)
		l.agenda.sooner(rescueFromEnded, now.Add(endedLook))
	}
	if err != nil {
		wait = l.rescues.trouble.Next()
		if l.hard.Err() == nil {
			l.e.emit(Event{Kind: EventTrouble, Err: err, Duration: wait})
		}
	} else {
		l.rescues.trouble.Reset()
	}
	l.agenda.set(rescueOverdue, now.Add(wait))
	return nil
}

// endedLook is when to ask whether other workers have jobs, and have ended, after
// something has changed.
const endedLook = 500 * time.Millisecond

// rescueFromEnded rescues the jobs of workers of which the database knows that they have
// ended. As long as other workers have jobs it is repeated.
func (l *loop) rescueFromEnded(now time.Time) error {
	workers, again, err := l.e.store.Ended(l.hard, l.e.worker)
	if err == nil && len(workers) > 0 {
		_, err = l.rescue(now, workers)
	}
	switch {
	case err != nil && l.e.store.Judge(err) == isolate.Database:
		return err
	case err != nil:
		again = l.rescues.trouble.Next()
		l.e.emit(Event{Kind: EventTrouble, Err: err, Duration: again})
	}
	if l.agenda.clear(rescueFromEnded); again > 0 {
		l.agenda.set(rescueFromEnded, now.Add(again))
	}
	return nil
}

// rescue rescues jobs whose leases have ended, and those of the workers in ended. It returns how
// long to wait before the next look.
func (l *loop) rescue(now time.Time, ended []string) (time.Duration, error) {
	overdue, err := l.e.store.Overdue(l.hard, jobdb.OverdueQuery{
		Lease: l.e.cfg.Lease, Ended: ended, Limit: overdueLimit, Except: l.aside.notToRescue(now),
	})
	l.e.idle.Store(err == nil && overdue.Idle)
	if err != nil {
		return 0, err
	}
	ours := func(job jobqueue.Job) bool { return job.Worker == l.e.worker && l.flight.byJID[job.JID] != nil }
	jobs := slices.DeleteFunc(append(overdue.Dead, overdue.Due...), ours)
	confirmed := slices.DeleteFunc(overdue.Ended, ours)
	items, wait := l.rescues.choose(jobs, confirmed, l.e.cfg, now)
	if overdue.Idle {
		wait = l.e.cfg.PollInterval
	} else if overdue.Next >= 0 {
		wait = min(wait, overdue.Next)
	}
	err = l.exchange(items, jobdb.Claim{}, now)
	done := l.rescues.done(items)
	l.e.tellRescued(done)
	if len(done) > 0 && overdue.More {
		wait = 0
	}
	return wait, err
}

// choose returns the jobs to rescue now, and how long to wait before the next look. The others that
// have a worker stay suspects.
func (r *rescues) choose(jobs, confirmed []jobqueue.Job, cfg Config, now time.Time) (items []item, wait time.Duration) {
	wait = min(cfg.PollInterval, cfg.Lease)
	before := r.suspects
	r.suspects = map[string]suspect{}
	for _, job := range confirmed { // their workers have ended
		s := before[job.JID]
		items = append(items, rescueBy(cfg.policy().WorkerEnded(job)))
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
			items = append(items, rescueBy(cfg.policy().Abandoned(job)))
		}
		r.suspects[job.JID] = s
	}
	return items, wait
}

// done are the transitions of the items whose jobs were rescued.
func (r *rescues) done(items []item) (done []jobdb.Transition) {
	for _, it := range items {
		if _, still := r.suspects[it.jid]; !still {
			done = append(done, *it.rescue)
		}
	}
	return done
}

func (e *Executor) tellRescued(done []jobdb.Transition) {
	retried := 0
	for _, t := range done {
		switch t.From {
		case jobqueue.Waiting: // its time has come
		case jobqueue.Stuck:
			retried++
		default:
			e.emit(Event{Kind: EventInterrupted, Job: jobqueue.Job{JID: t.JID}, Worker: t.Worker, State: t.To})
		}
	}
	if retried > 0 {
		e.emit(Event{Kind: EventRetried, Count: retried})
	}
}
