package scheduler

import (
	"context"
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
