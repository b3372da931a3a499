package hooks

import (
	"context"
	"errors"
)

// Action is what a hook does. It is safe for concurrent use, and comparable.
type Action interface {
	// Do tells the receiver, and returns soon after ctx has ended. It is tried again
	// after an error. outbox.Refuse marks one that no retry would help.
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

// NextTask is the id of the task, for package hookbook.
func (s submit) NextTask() string { return s.task }

func (submit) Do(context.Context, Notice) error {
	return errors.New("only the relay of store.DB.Hooks can submit tasks")
}

// First returns the action of an OnFailure that does only the first of the failures of a task in a
// row: when it turns red. Jobs of no tick have no such failure.
func First(a Action) Action { return first{a} }

type first struct{ Action }

// Always is what it does, for package hookbook.
func (f first) Always() Action { return f.Action }
