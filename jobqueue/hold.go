package jobqueue

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/text"
)

// Pause keeps executors from claiming jobs of a group or of a task, until
// [Queue.Resume]. Jobs that run go on. Pausing twice is no error.
func (q *Queue) Pause(ctx context.Context, kind ScopeKind, name string) error {
	if err := checkPause(kind, name); err != nil {
		return err
	}
	return q.store.Update(ctx, func(tx QueueTx) error { return tx.Pause(ctx, kind, name) })
}

// Resume ends a pause, and wakes executors. It reports whether there was one.
func (q *Queue) Resume(ctx context.Context, kind ScopeKind, name string) (bool, error) {
	return update(ctx, q, func(tx QueueTx) (bool, error) { return tx.Resume(ctx, kind, name) })
}

// Pauses lists what is paused.
func (q *Queue) Pauses(ctx context.Context) ([]Pause, error) {
	return view(ctx, q, func(tx QueueTx) ([]Pause, error) { return tx.Pauses(ctx) })
}

func checkPause(kind ScopeKind, name string) error {
	if kind != ScopeGroup && kind != ScopeTask {
		return fmt.Errorf("pause %s %q: only a group or a task can be paused", kind, name)
	}
	return checkName("pause", string(kind), name)
}

func checkName(verb, kind, name string) error {
	if name == "" || len(name) > maxField || !text.Valid(name) {
		return fmt.Errorf("%s %s %q: use a name of 1 to %d bytes", verb, kind, name, maxField)
	}
	return nil
}

// SetLimit bounds how many jobs of a group or a task run at once, over all executors,
// instead of the [Limits] of the task's handler. Jobs that run go on, also if they are
// more. Jobs beyond the limit wait, and others go on. To let no job begin, use
// [Queue.Pause].
func (q *Queue) SetLimit(ctx context.Context, kind ScopeKind, name string, most int) error {
	if kind != ScopeGroup && kind != ScopeTask {
		return fmt.Errorf("limit %s %q: only a group or a task can have a limit", kind, name)
	}
	if err := checkName("limit", string(kind), name); err != nil {
		return err
	}
	if err := (Limits{Concurrency: most}).Validate(); err != nil || most == 0 {
		return fmt.Errorf("limit %s %q to %d: use 1 to 1000000; to let none begin, pause it", kind, name, most)
	}
	l := Limit{Scope: Scope{Kind: kind, Name: name}, Most: most}
	return q.store.Update(ctx, func(tx QueueTx) error { return tx.SetLimit(ctx, l) })
}

// DropLimit ends a limit, and wakes executors. It reports whether there was one.
func (q *Queue) DropLimit(ctx context.Context, kind ScopeKind, name string) (bool, error) {
	return update(ctx, q, func(tx QueueTx) (bool, error) {
		return tx.DropLimit(ctx, Scope{Kind: kind, Name: name})
	})
}

// Limits lists the limits of groups and tasks, and how many of their jobs run now. The
// limits of handlers and of single jobs are not among them.
func (q *Queue) Limits(ctx context.Context) ([]Limit, error) {
	return view(ctx, q, func(tx QueueTx) ([]Limit, error) { return tx.Limits(ctx) })
}
