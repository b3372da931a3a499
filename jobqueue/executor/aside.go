package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/jobqueue"
)

// Jobs that fail alone are retried after leastAside at first, then ever more rarely,
// up to mostAside apart; jobs that somebody has locked up to mostLocked apart.
const (
	leastAside = time.Second
	mostAside  = 5 * time.Minute
	mostLocked = time.Second
	// hurryGap is how soon after a change of the queue they are tried again.
	hurryGap = 2 * time.Second
	// maxAside bounds the jobs that claims leave out.
	maxAside = 1000
	// maxAlone is how many are retried before other work gets its turn.
	maxAlone = 8
	// lockedTries is after how many tries a job is reported as locked.
	lockedTries = 5
)

// errUnchanged is the reason for setting aside a job that the database finds, but
// does not change as asked.
var errUnchanged = errors.New("the database finds the job, but does not change its state; " +
	"look for a trigger that suppresses the change")

// aside holds the jobs that fail alone, by what was tried: they are left out of
// the transactions with others.
type aside struct {
	claims   isolate.Quarantine[string] // to claim
	refused  isolate.Quarantine[string] // to write what the attempt has to say
	locked   isolate.Quarantine[string] // the same, while somebody has the row locked
	overdue  isolate.Quarantine[string] // to take back
	renewals isolate.Quarantine[string] // to renew the lease; reported, but tried with the others
}

func newAside() aside {
	of := func(most time.Duration) isolate.Quarantine[string] {
		return isolate.Quarantine[string]{Least: min(leastAside, most/2), Most: most}
	}
	return aside{claims: of(mostAside), refused: of(mostAside), locked: of(mostLocked), overdue: of(mostAside), renewals: of(mostAside)}
}

func (s *aside) hasReport(jid string) bool { return s.refused.Has(jid) || s.locked.Has(jid) }

// reports lists the attempts that are set aside.
func (s *aside) reports() []string { return append(s.refused.Keys(), s.locked.Keys()...) }

func (s *aside) release(jid string) {
	s.claims.Release(jid)
	s.refused.Release(jid)
	s.locked.Release(jid)
}

// hurry says that the queue has changed.
func (s *aside) hurry(now time.Time) {
	s.claims.Hurry(now, hurryGap)
	s.refused.Hurry(now, hurryGap)
	s.overdue.Hurry(now, hurryGap)
}

// notDue lists the jobs that are not to be taken back now.
func (s *aside) notDue(now time.Time) []string {
	due := s.overdue.Due(now)
	return slices.DeleteFunc(s.overdue.Keys(), func(jid string) bool { return slices.Contains(due, jid) })
}

// alone are the jobs to try alone: to claim only if there is room for more.
func (s *aside) alone(room int) []*isolate.Quarantine[string] {
	if room > 0 {
		return []*isolate.Quarantine[string]{&s.locked, &s.refused, &s.claims}
	}
	return []*isolate.Quarantine[string]{&s.locked, &s.refused}
}

// next is when to try the next job alone.
func (s *aside) next(room int) time.Time {
	var next time.Time
	for _, jobs := range s.alone(room) {
		if at := jobs.Next(); next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next
}

// add sets an item aside, and reports whether to name it.
func (s *aside) add(it item, cause isolate.Cause, now time.Time) bool {
	switch {
	case it.transition != nil:
		return s.overdue.Add(it.jid, now)
	case it.attempt == nil:
		return s.claims.Add(it.jid, now)
	case cause == isolate.Contended:
		s.refused.Release(it.jid)
		s.locked.Add(it.jid, now)
		it.attempt.held++
		return it.attempt.held == lockedTries
	}
	s.locked.Release(it.jid)
	return s.refused.Add(it.jid, now)
}

// isolate syncs those items that can be synced, and sets the others aside. err is
// why they could not be synced together.
func (l *loop) isolate(items []item, err error) error {
	found := isolate.Bisect(l.hard, items, err, isolate.Search[item]{
		Judge: l.e.store.Judge,
		Try: func(_ context.Context, items []item, brief bool) error {
			q := request(l.e.worker, items, time.Now())
			q.Brief = brief
			_, err := l.send(q)
			return err
		},
	})
	for _, c := range found.Culprits {
		l.setAside([]item{c.Item}, c.Cause, c.Err)
	}
	switch cause := l.e.store.Judge(found.Err); {
	case found.Err == nil:
	case cause == isolate.Database || l.hard.Err() != nil:
		return found.Err
	default: // the rest fails for the same reason, or the search ran out of time
		l.setAside(found.Left, cause, found.Err)
		if slices.ContainsFunc(found.Left, item.isClaim) {
			l.claims.allRefused(time.Now())
		}
	}
	if l.aside.claims.Len() >= maxAside {
		return err
	}
	return nil
}

// setAside keeps jobs out of transactions with others, and reports those that were
// not set aside before.
func (l *loop) setAside(items []item, cause isolate.Cause, err error) {
	var named []jobqueue.Job
	var jids []string
	for _, it := range items {
		if it.attempt != nil {
			it.attempt.why = err
		}
		if l.aside.add(it, cause, time.Now()) {
			named, jids = append(named, it.job()), append(jids, it.jid)
		}
	}
	switch len(named) {
	case 0:
	case 1:
		l.e.observer.Refused(named, leastAside, fmt.Errorf("job %s: %w", jids[0], err))
	default:
		l.e.observer.Refused(named, leastAside, fmt.Errorf("jobs %s: %w", strings.Join(jids, ", "), err))
	}
}

// retryAlone tries jobs again that were set aside, each in a transaction of its
// own.
func (l *loop) retryAlone(now time.Time) error {
	var due []string
	for _, jobs := range l.aside.alone(l.flight.room()) {
		due = append(due, jobs.Due(now)...)
	}
	for _, jid := range due[:min(len(due), maxAlone)] {
		it := item{jid: jid, attempt: l.flight.byJID[jid]}
		if it.attempt == nil && l.flight.room() <= 0 {
			continue // it stays due
		}
		q := request(l.e.worker, []item{it}, now)
		q.Brief = true
		_, err := l.send(q)
		switch cause := l.e.store.Judge(err); {
		case err == nil:
		case cause == isolate.Database:
			return err
		default:
			l.setAside([]item{it}, cause, err)
		}
	}
	return nil
}
