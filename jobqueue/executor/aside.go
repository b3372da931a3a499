package executor

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// How long a job that fails alone is left out of the transactions with others: twice as long each time it fails again.
const (
	leastAside, mostAside   = time.Second, 2 * time.Minute
	leastLocked, mostLocked = 250 * time.Millisecond, 5 * time.Second
	// maxAside bounds the jobs that claims leave out.
	maxAside = 1000
	// maxAlone is how many are retried before other work gets its turn.
	maxAlone = 8
)

// errUnchanged is the reason for setting aside a job that the database finds, but
// does not change as asked.
var errUnchanged = errors.New("the database finds the job, but does not change its state; " +
	"look for a trigger that suppresses the change")

// aside are the jobs that fail alone, by their ids.
type aside map[string]*failure

// failure is what was tried with a job, and when to try it again.
type failure struct {
	doing doing
	pause service.Backoff
	again time.Time
	named bool
}

type doing int

const (
	claiming  doing = iota
	reporting       // to write what the attempt has to say
	rescuing
)

// add sets a job aside, and reports whether to name it: once, and not for a lock that is held for a moment.
func (s aside) add(it item, locked bool, now time.Time) (name bool) {
	f := s[it.jid]
	if f == nil {
		f = &failure{}
		s[it.jid] = f
	}
	f.doing, f.pause.Least, f.pause.Most = it.doing(), leastAside, mostAside
	if locked {
		f.pause.Least, f.pause.Most = leastLocked, mostLocked
	}
	wait := f.pause.Next()
	f.again = now.Add(wait)
	name = !f.named && !(locked && wait < mostLocked/2)
	f.named = f.named || name
	return name
}

// release lets a job go with others again.
func (s aside) release(jid string) { delete(s, jid) }

func (s aside) hasReport(jid string) bool { return s[jid] != nil && s[jid].doing == reporting }

// of lists the jobs with which this was tried, sorted.
func (s aside) of(what doing) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s)), func(jid string) bool { return s[jid].doing != what })
}

// notToRescue lists the jobs that are not to be rescued now.
func (s aside) notToRescue(now time.Time) []string {
	return slices.DeleteFunc(s.of(rescuing), func(jid string) bool { return !s[jid].again.After(now) })
}

// toRetry lists what to try again alone, that which has waited longest first: to claim only if there is room for more.
func (s aside) toRetry(room int) []string {
	jids := s.of(reporting)
	if room > 0 {
		jids = append(jids, s.of(claiming)...)
	}
	slices.SortStableFunc(jids, func(a, b string) int { return s[a].again.Compare(s[b].again) })
	return jids
}

// next is when to try the first of them; zero: there is none.
func (s aside) next(room int) time.Time {
	if jids := s.toRetry(room); len(jids) > 0 {
		return s[jids[0]].again
	}
	return time.Time{}
}

// hurry makes all of them due: there is little time left.
func (s aside) hurry(now time.Time) {
	for _, f := range s {
		f.again = now
		f.pause.Reset()
	}
}

// inParts syncs those items that can be synced, and sets the others aside. cause is why they could not be synced together.
func (l *loop) inParts(items []item, cause error) error {
	if _, err := service.InParts(l.hard, items, cause, l.alone, l.setAside); err != nil {
		return err
	}
	if len(l.aside.of(claiming)) >= maxAside {
		return cause
	}
	return nil
}

// alone syncs items, without a long wait for a lock.
func (l *loop) alone(items []item) error {
	q := requestFor(l.e.worker, items, time.Now())
	q.Brief = true
	_, err := l.roundTrip(items, q)
	return err
}

// setAside keeps a job out of transactions with others, and names it once. The error is one of the database.
func (l *loop) setAside(it item, cause error) error {
	fault := l.e.store.Fault(cause)
	if fault == service.FaultDatabase || l.hard.Err() != nil {
		return cause
	}
	if it.attempt != nil {
		it.attempt.why = cause
	}
	if l.aside.add(it, fault == service.FaultLock, time.Now()) {
		l.e.emit(Event{Kind: EventRefused, Job: it.job(), Err: fmt.Errorf("job %s: %w", it.jid, cause), Duration: leastAside})
	}
	return nil
}

// retryAlone tries jobs again that were set aside, each in a transaction of its
// own.
func (l *loop) retryAlone(now time.Time) error {
	for n, jid := range l.aside.toRetry(l.flight.room()) {
		if n == maxAlone || l.aside[jid].again.After(now) {
			break
		}
		it := claimOf(jid)
		if a := l.flight.byJID[jid]; a != nil {
			it = reportOf(a)
		} else if l.flight.room() <= 0 {
			continue // it stays due
		}
		if err := l.alone([]item{it}); err != nil {
			if err := l.setAside(it, err); err != nil {
				return err
			}
		}
	}
	return nil
}
