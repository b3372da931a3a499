package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
)

// role is the behaviour of a mode: whether the scheduler may schedule. It is safe for concurrent use.
type role interface {
	// join starts to contend for the lock, if the mode has one.
	join(ctx context.Context) error
	// joinOnce joins for one run, without waiting for another holder to end. It
	// reports whether to schedule.
	joinOnce(ctx context.Context) (bool, error)
	// leave undoes join.
	leave(ctx context.Context)
	// schedules reports whether this scheduler may schedule now.
	schedules() bool
	// await returns when this scheduler may schedule. An error means that it never will.
	await(ctx context.Context) error
	// watch calls wake when tasks change, while this scheduler may schedule.
	watch(ctx context.Context, wake func(), report func(error))
	status() Status
}

// Status is what a scheduler does in its mode.
type Status struct {
	Mode     Mode
	Schedule bool // it schedules, or would if it was started
	Lock     Lock // as last seen; zero in ModeShared
}

// shared is the role in ModeShared: every scheduler schedules, and locks on rows keep them
// apart.
type shared struct {
	store  Store
	worker string
}

func (shared) join(context.Context) error             { return nil }
func (shared) joinOnce(context.Context) (bool, error) { return true, nil }
func (shared) leave(context.Context)                  {}
func (shared) schedules() bool                        { return true }
func (shared) await(context.Context) error            { return nil }
func (shared) status() Status                         { return Status{Mode: ModeShared, Schedule: true} }

func (s shared) watch(ctx context.Context, wake func(), report func(error)) {
	s.store.Watch(ctx, s.worker, wake, report)
}

// releaseTimeout bounds the release of the lock at the end; without it the
// lock expires.
const releaseTimeout = 2 * time.Second

// led is the role of a scheduler in the modes leader and exclusive.
type led struct {
	store   Store
	locks   leader.Store
	mode    Mode
	lock    leader.Config
	observe func(Event)
	elector *leader.Elector
	joined  atomic.Bool
}

// newLed returns the role of a scheduler that holds its lock under the name holder.
// It calls wake when the lock is acquired, lost or released, and keeps the lock while the scheduler works.
func newLed(store Store, cfg Config, holder string, observe func(Event), wake func(), works func() bool) (*led, error) {
	l := &led{store: store, locks: store.Locks(), mode: cfg.Mode, observe: observe}
	l.lock = leader.Config{
		Terms:   cfg.Lock,
		Holder:  holder,
		Works:   works,
		Observe: func(e leader.Event) { l.observeLock(e, wake) },
	}
	err := l.newElector(cfg.Mode == ModeExclusive)
	return l, err
}

func (l *led) newElector(exclusive bool) (err error) {
	cfg := l.lock
	cfg.Exclusive = exclusive
	if l.elector, err = leader.New(l.locks, cfg); err != nil {
		return fmt.Errorf("scheduler.Config.Lock: %w", err)
	}
	return nil
}

func (l *led) join(ctx context.Context) error {
	if err := l.elector.Start(ctx); err != nil && !errors.Is(err, leader.ErrStarted) {
		return err
	}
	l.joined.Store(true)
	return nil
}

func (l *led) joinOnce(ctx context.Context) (bool, error) {
	if !l.joined.Load() {
		if err := l.newElector(true); err != nil {
			return false, err
		}
	}
	err := l.join(ctx)
	var held *leader.HeldError
	if l.mode == ModeLeader && errors.As(err, &held) {
		l.observe(Event{Kind: EventStandby, Lock: held.Lock})
		return false, nil
	}
	return err == nil, err
}

// leave releases the lock.
func (l *led) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if err := l.elector.Stop(ctx); err != nil {
		l.observe(Event{Kind: EventError, Doing: "release the lock", Err: err})
	}
	l.joined.Store(false)
}

func (l *led) schedules() bool {
	_, leads := l.elector.Term()
	return leads
}

func (l *led) await(ctx context.Context) error {
	_, err := l.elector.Await(ctx)
	return err
}

// update runs fn in a transaction that begins with a check of the lock, keeps
// the lock's row locked, and ends with the term, then with [leader.ErrLost].
func (l *led) update(ctx context.Context, wait time.Duration, fn func(batch.Tx) error) error {
	term, ok := l.elector.Term()
	if !ok {
		return leader.ErrLost
	}
	leading, end := term.During(ctx)
	defer end()
	err := term.Enter(leading)
	if err == nil {
		err = l.store.Update(leading, wait, func(tx batch.Tx) error {
			if err := l.locks.Guard(leading, tx.DBTX(), term.Fence()); err != nil {
				return err
			}
			return fn(tx)
		})
	}
	switch {
	case errors.Is(err, leader.ErrLost):
		term.End()
	case err != nil && ctx.Err() == nil && leading.Err() != nil:
		return leader.ErrLost
	}
	return err
}

// watch needs a connection while this scheduler leads, and none while it stands
// by.
func (l *led) watch(ctx context.Context, wake func(), report func(error)) {
	for {
		term, err := l.elector.Await(ctx)
		if err != nil {
			return
		}
		leading, end := term.During(ctx)
		l.store.Watch(leading, "", wake, report) // the elector shows that the holder lives
		end()
	}
}

func (l *led) status() Status {
	return Status{Mode: l.mode, Schedule: l.schedules(), Lock: l.elector.Seen()}
}

// observeLock reports what happened to the lock.
func (l *led) observeLock(e leader.Event, wake func()) {
	l.observe(Event{Kind: EventKind(e.Kind), Lock: e.Lock, Doing: e.Doing, Err: e.Err})
	if e.Kind != leader.EventError {
		wake() // the loop may be asleep until the next tick
	}
}
