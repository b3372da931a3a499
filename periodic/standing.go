package periodic

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/periodic/leader"
)

// Standing is the part that a scheduler has in its mode.
type Standing struct {
	Mode     Mode
	Schedule bool        // it schedules, or would if it was started
	Lock     leader.Lock // as last seen; zero in ModeShared
}

// Standing tells whether this scheduler schedules, and who does otherwise.
func (s *Scheduler) Standing() Standing {
	if s.lead == nil {
		return Standing{Mode: s.cfg.Mode, Schedule: true}
	}
	_, leads := s.lead.elector.Term()
	return Standing{Mode: s.cfg.Mode, Schedule: leads, Lock: s.lead.elector.Seen()}
}

// Done is closed when a scheduler that was started has ended: by Stop, by the
// end of Start's ctx or, in mode exclusive, because somebody else has taken the
// lock.
func (s *Scheduler) Done() <-chan struct{} { return s.done }

// Err tells why the scheduler ended by itself: a [*leader.HeldError] if somebody
// else has taken the lock in mode exclusive. It is nil before Done, and after
// Stop.
func (s *Scheduler) Err() error {
	select {
	case <-s.done:
		return s.superseded
	default:
		return nil
	}
}

// standsBy reports whether somebody else is to schedule.
func (s *Scheduler) standsBy() bool {
	if s.lead == nil {
		return false
	}
	_, leads := s.lead.elector.Term()
	return !leads
}

// await waits for the lock. It returns an error when the loop is to end.
func (s *Scheduler) await(running context.Context) error {
	_, err := s.lead.elector.Await(running)
	if err != nil && running.Err() == nil {
		s.superseded = err
	}
	return err
}

// inTerm runs fn with a context that ends with the term, if there are terms. It
// returns [leader.ErrLost] if that is why fn failed.
func (s *Scheduler) inTerm(ctx context.Context, fn func(context.Context) (idle, error)) (idle, error) {
	if s.lead == nil {
		return fn(ctx)
	}
	term, leads := s.lead.elector.Term()
	if !leads {
		return idle{}, leader.ErrLost
	}
	leading, end := during(ctx, term)
	defer end()
	result, err := fn(leading)
	if err != nil && ctx.Err() == nil && leading.Err() != nil {
		return idle{}, leader.ErrLost
	}
	return result, err
}

// during returns a context that ends with another one and with a term.
func during(ctx context.Context, term *leader.Term) (context.Context, context.CancelFunc) {
	both, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(term.Context(), cancel)
	return both, func() {
		stop()
		cancel()
	}
}

// watch wakes the loop when tasks change: always, or while this scheduler leads,
// so that standing by needs no connection for it.
func (s *Scheduler) watch(running context.Context) {
	report := func(err error) { s.fail("watch for changes", err) }
	if s.lead == nil {
		s.store.Watch(running, s.Wake, report)
		return
	}
	for {
		term, err := s.lead.elector.Await(running)
		if err != nil {
			return
		}
		leading, end := during(running, term)
		s.store.Watch(leading, s.Wake, report)
		end()
	}
}

// maxFailedRounds is after how many failed rounds in a row a leader resigns, if
// they took a heartbeat at least.
const maxFailedRounds = 5

// weariness counts the failed rounds of a leader.
type weariness struct {
	rounds int
	since  time.Time
}

// judge resigns when the leader cannot schedule while its lock is well: others
// may be able to. In mode exclusive there are no others.
func (s *Scheduler) judge(err error) {
	if s.lead == nil || s.cfg.Mode != ModeLeader {
		return
	}
	w := &s.lead.weary
	if err == nil {
		*w = weariness{}
		return
	}
	if w.rounds++; w.rounds == 1 {
		w.since = time.Now()
	}
	term, leads := s.lead.elector.Term()
	if leads && w.rounds >= maxFailedRounds && time.Since(w.since) >= s.lead.elector.Heartbeat() {
		*w = weariness{}
		s.lead.elector.Resign(term)
	}
}
