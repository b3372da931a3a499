package hooks

import (
	"context"
	"errors"
)

// Action is what a hook does. It is safe for concurrent use, and comparable.
type Action interface {
	// Do tells the receiver, and returns soon after ctx has ended. It is tried again
	// after an error; jobqueue.Permanent marks one that no retry would help.
	Do(ctx context.Context, n Notice) error
}

// None is the action of a hook that does nothing: it silences a more general one.
var None Action = none{}

type none struct{}

func (none) Do(context.Context, Notice) error { return nil }

// Func makes an action of a function. The notice may come more than once, with the
// same ID.
func Func(do func(ctx context.Context, n Notice) error) Action { return &function{do} }

type function struct {
	do func(context.Context, Notice) error
}

func (f *function) Do(ctx context.Context, n Notice) error { return f.do(ctx, n) }

// Submit returns the action that submits a periodic task: it gets a tick at the time of
// the event, which a scheduler handles as the policies of the task say. Delivered
// twice, it still is one tick. A task that is disabled or paused, or outside its Starts and Ends,
// is skipped.
func Submit(task string) Action { return submit{task} }

type submit struct{ task string }

func (submit) Do(context.Context, Notice) error {
	return errors.New("only the executor of a process with store.DB.Hooks can submit tasks")
}

// First returns the action of an OnFailure that does only the first of the failures of a task in a
// row: when it turns red. Jobs of no tick have no such failure.
func First(a Action) Action { return first{a} }

type first struct{ Action }

// Next is the id of the task that an action submits; false: it is another action.
func Next(a Action) (task string, ok bool) {
	if once, is := a.(first); is {
		a = once.Action
	}
	s, ok := a.(submit)
	return s.task, ok
}
