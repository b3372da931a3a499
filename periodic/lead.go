package periodic

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/periodic/leader"
)

// releaseTimeout bounds the release of the lock at the end; without it the
// lock expires.
const releaseTimeout = 2 * time.Second

// lead is what a scheduler has in the modes leader and exclusive.
type lead struct {
	locks   leader.Store
	elector *leader.Elector
	joined  atomic.Bool
	weary   weariness // the loop's own
}

// newLead prepares the modes leader and exclusive.
func (s *Scheduler) newLead() error {
	if s.cfg.Mode == ModeShared {
		return nil
	}
	s.lead = &lead{locks: s.store.Locks()}
	return s.newElector(s.cfg.Mode == ModeExclusive)
}

func (s *Scheduler) newElector(exclusive bool) (err error) {
	s.lead.elector, err = leader.New(s.lead.locks, leader.Config{
		Lock:      s.cfg.Lock.Name,
		Holder:    s.cfg.Name + "/" + s.boot,
		TTL:       s.cfg.Lock.TTL,
		Heartbeat: s.cfg.Lock.Heartbeat,
		Exclusive: exclusive,
		Observe:   s.observeLock,
	})
	if err != nil {
		return fmt.Errorf("periodic.Config.Lock: %w", err)
	}
	return nil
}

// Join takes part in the modes leader and exclusive; Start does so if it was
// not done before. In mode exclusive it acquires the lock, or returns a
// [*leader.HeldError] or whatever else was in the way. In mode leader it begins
// to contend and returns at once. After Join call Stop, started or not.
func (s *Scheduler) Join(ctx context.Context) error {
	if s.lead == nil {
		return nil
	}
	if err := s.lead.elector.Start(ctx); err != nil && !errors.Is(err, leader.ErrStarted) {
		return err
	}
	s.lead.joined.Store(true)
	return nil
}

// joinOnce joins for one run: it acquires the lock or does not wait for it. It
// reports whether to schedule.
func (s *Scheduler) joinOnce(ctx context.Context) (bool, error) {
	if s.lead == nil {
		return true, nil
	}
	if !s.lead.joined.Load() {
		if err := s.newElector(true); err != nil {
			return false, err
		}
	}
	err := s.Join(ctx)
	var held *leader.HeldError
	if s.cfg.Mode == ModeLeader && errors.As(err, &held) {
		s.observe(Event{Kind: EventStandby, Lock: held.Lock})
		return false, nil
	}
	return err == nil, err
}

// leave releases the lock.
func (s *Scheduler) leave(ctx context.Context) {
	if s.lead == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if err := s.lead.elector.Stop(ctx); err != nil {
		s.fail("release the lock", err)
	}
	s.lead.joined.Store(false)
}

// update runs fn in a transaction; in the modes leader and exclusive in one
// that begins with a check of the lock, and cannot commit without it.
func (s *Scheduler) update(ctx context.Context, fn func(Tx) error) error {
	if s.lead == nil {
		return s.store.Update(ctx, fn)
	}
	term, ok := s.lead.elector.Term()
	if !ok {
		return leader.ErrLost
	}
	if err := term.Enter(ctx); err != nil {
		return err
	}
	err := s.store.Update(ctx, func(tx Tx) error {
		if err := s.lead.locks.Guard(ctx, tx.DBTX(), tx.Now(), term.Fence()); err != nil {
			return err
		}
		return fn(tx)
	})
	if errors.Is(err, leader.ErrLost) {
		s.lead.elector.Depose(term)
	}
	return err
}

// transient reports whether the same work may succeed later, be it by somebody
// else.
func (s *Scheduler) transient(err error) bool {
	return s.store.Transient(err) || errors.Is(err, leader.ErrLost)
}

// observeLock passes on what happened to the lock.
func (s *Scheduler) observeLock(e leader.Event) {
	lock := e.Lock
	if lock.Name == "" {
		lock = leader.Lock{Name: e.Fence.Lock, Holder: e.Fence.Holder, Token: e.Fence.Token}
	}
	kinds := map[leader.EventKind]EventKind{
		leader.EventLeading: EventLeading, leader.EventStandby: EventStandby, leader.EventLost: EventLost,
		leader.EventResigned: EventResigned, leader.EventReleased: EventReleased,
	}
	if kind, ok := kinds[e.Kind]; ok {
		s.observe(Event{Kind: kind, Lock: lock})
		s.Wake() // it may be asleep until the next tick
		return
	}
	s.fail(e.Doing, e.Err)
}
