package periodic

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nextrun/nextrun/periodic/leader"
)

// lockedRetry is how soon due rows that somebody else has locked are tried
// again.
const lockedRetry = 250 * time.Millisecond

// clockSlack is the least time to sleep: the database's clock and the own one
// advance by no finer steps than this.
const clockSlack = time.Millisecond

// loop schedules until running ends; what is in hand then is finished, unless
// working ends too.
func (s *Scheduler) loop(running, working context.Context) {
	retry := backoff{least: s.cfg.RetryMin, most: s.cfg.RetryMax}
	cleared := false
	for running.Err() == nil {
		err := s.unmarkStale(working)
		if err == nil && s.standsBy() {
			cleared = false
			if s.await(running) != nil {
				break
			}
		}
		pause := idle{}
		if err == nil {
			pause, err = s.inTerm(working, func(leading context.Context) (idle, error) {
				if !cleared {
					if _, err := s.clear(leading, s.cfg.Name); err != nil {
						return idle{}, err
					}
					cleared = true
				}
				return s.round(running, leading)
			})
		}
		if errors.Is(err, leader.ErrLost) {
			continue
		}
		wait := s.pause(pause)
		if err != nil {
			s.fail("schedule", err)
			wait = retry.next()
		} else {
			retry.reset()
		}
		s.judge(err)
		_ = s.sleep(running, wait) // the loop looks itself whether it is to end
	}
	if err := s.unmarkStale(working); err != nil {
		s.fail("remove own marks", err)
	}
}

// idle tells why a round ended.
type idle struct {
	peek   Peek
	locked bool // there are rows to take, but somebody else has locked them
}

// pause is how long to sleep after a round.
func (s *Scheduler) pause(i idle) time.Duration {
	wait := s.cfg.PollInterval
	sooner := func(at time.Time) {
		if !at.IsZero() {
			wait = min(wait, max(at.Sub(i.peek.Now), clockSlack))
		}
	}
	sooner(i.peek.Next)
	if !i.peek.Marked.IsZero() {
		sooner(i.peek.Marked.Add(s.cfg.Lease + time.Millisecond))
	}
	if i.locked || len(s.stale) > 0 {
		wait = min(wait, lockedRetry)
	}
	return wait
}

// sleep waits for a time, a wake-up or the end of ctx, whose error it returns.
func (s *Scheduler) sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.wake:
	case <-timer.C:
	}
	return nil
}

// round schedules batch after batch until nothing is due or running ends.
func (s *Scheduler) round(running, working context.Context) (idle, error) {
	for {
		if err := s.unmarkStale(working); err != nil {
			return idle{}, err
		}
		peek, err := s.peek(working)
		if err != nil {
			return idle{}, err
		}
		locked := false
		if !peek.Marked.IsZero() && s.expired(peek) {
			cleared, err := s.clear(working, "")
			if err != nil {
				return idle{}, err
			}
			if cleared > 0 {
				continue
			}
			peek.Marked, locked = time.Time{}, true
		}
		if peek.Due && running.Err() == nil {
			s.progress = false
			if err := s.drain(running, working); err != nil {
				return idle{}, err
			}
			if s.progress {
				continue
			}
			locked = true
		}
		if locked {
			s.observe(Event{Kind: EventLocked})
		}
		return idle{peek: peek, locked: locked}, nil
	}
}

// expired reports whether the earliest mark is older than the lease, or so far
// in the future that only a clock that was set back can have left it there.
func (s *Scheduler) expired(p Peek) bool {
	age := p.Now.Sub(p.Marked)
	return age > s.cfg.Lease || age < -s.cfg.Lease
}

// clear removes expired marks, and those of a worker name if one is given. It
// returns their number.
func (s *Scheduler) clear(ctx context.Context, worker string) (count int, err error) {
	err = s.update(ctx, func(tx Tx) (err error) {
		count, err = tx.ClearMarks(ctx, worker, s.cfg.Lease)
		return err
	})
	if err == nil && count > 0 {
		s.observe(Event{Kind: EventCleared, Count: count})
	}
	return count, err
}

// unmarkStale removes the marks that batches left behind: those that failed,
// and rows that somebody else had locked. What is locked still is kept for the
// next time.
func (s *Scheduler) unmarkStale(ctx context.Context) error {
	var locked []string
	for len(s.stale) > 0 {
		left := 0
		err := s.store.Update(ctx, func(tx Tx) (err error) {
			left, err = tx.Unmark(ctx, s.stale[0])
			return err
		})
		if err != nil {
			s.stale = append(s.stale, locked...)
			return err
		}
		if left > 0 {
			locked = append(locked, s.stale[0])
		}
		s.stale = s.stale[1:]
	}
	s.stale = locked
	return nil
}

// backoff is the time between attempts: it doubles, and varies by a half, so
// that schedulers that failed together do not come back together.
type backoff struct{ least, most, last time.Duration }

func (b *backoff) next() time.Duration {
	b.last = min(max(2*b.last, b.least), b.most)
	return b.last/2 + rand.N(b.last/2+1)
}

func (b *backoff) reset() { b.last = 0 }
