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

// aside holds the jobs that fail alone: they are left out of the transactions with others.
type aside struct{ isolate.Aside[string, doing] }

// doing is what was tried with a job.
type doing int

const (
	claiming        doing = iota
	reporting             // to write what the attempt has to say
	reportingLocked       // the same, while somebody has the row locked
	rescuing
)

func newAside() aside {
	paces := map[doing]isolate.Pace{reportingLocked: {Least: mostLocked / 2, Most: mostLocked}}
	for _, d := range []doing{claiming, reporting, rescuing} {
		paces[d] = isolate.Pace{Least: leastAside, Most: mostAside}
	}
	return aside{isolate.Aside[string, doing]{Paces: paces}}
}

func (s *aside) hasReport(jid string) bool { return s.Has(jid, reporting, reportingLocked) }

// reports lists the attempts that are set aside.
func (s *aside) reports() []string { return s.Keys(reporting, reportingLocked) }

// queueChanged hurries what was set aside: the reason may be gone.
func (s *aside) queueChanged(now time.Time) { s.Hurry(now, hurryGap, claiming, reporting, rescuing) }

// notToRescue lists the jobs that are not to be rescued now.
func (s *aside) notToRescue(now time.Time) []string {
	due := s.Due(now, rescuing)
	return slices.DeleteFunc(s.Keys(rescuing), func(jid string) bool { return slices.Contains(due, jid) })
}

// alone is what to try alone: to claim only if there is room for more.
func alone(room int) []doing {
	if room > 0 {
		return []doing{reportingLocked, reporting, claiming}
	}
	return []doing{reportingLocked, reporting}
}

// add sets an item aside, and reports whether to name it.
func (s *aside) add(it item, cause isolate.Cause, now time.Time) bool {
	switch {
	case it.rescue != nil:
		s.Add(it.jid, rescuing, now)
	case it.attempt == nil:
		s.Add(it.jid, claiming, now)
	case cause == isolate.Contended:
		s.Add(it.jid, reportingLocked, now)
		it.attempt.locked++
		return it.attempt.locked == lockedTries
	default:
		s.Add(it.jid, reporting, now)
	}
	return s.Name(it.jid)
}

// isolate syncs those items that can be synced, and sets the others aside. err is
// why they could not be synced together.
func (l *loop) isolate(items []item, err error) error {
	found := isolate.Bisect(l.hard, items, err, isolate.Search[item]{
		Judge: l.e.store.Judge,
		Try: func(_ context.Context, items []item, brief bool) error {
			q := requestFor(l.e.worker, items, time.Now())
			q.Brief = brief
			_, err := l.roundTrip(q)
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
	if len(l.aside.Keys(claiming)) >= maxAside {
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
	event := Event{Kind: EventRefused, Duration: leastAside}
	switch len(named) {
	case 0:
		return
	case 1:
		event.Job, event.Err = named[0], fmt.Errorf("job %s: %w", jids[0], err)
	default:
		event.Count, event.Err = len(named), fmt.Errorf("jobs %s: %w", strings.Join(jids, ", "), err)
	}
	l.e.emit(event)
}

// retryAlone tries jobs again that were set aside, each in a transaction of its
// own.
func (l *loop) retryAlone(now time.Time) error {
	due := l.aside.Due(now, alone(l.flight.room())...)
	for _, jid := range due[:min(len(due), maxAlone)] {
		it := claimOf(jid)
		if a := l.flight.byJID[jid]; a != nil {
			it = reportOf(a)
		} else if l.flight.room() <= 0 {
			continue // it stays due
		}
		q := requestFor(l.e.worker, []item{it}, now)
		q.Brief = true
		_, err := l.roundTrip(q)
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
