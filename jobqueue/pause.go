package jobqueue

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue/backend"
)

// Pause keeps executors from claiming jobs of a group or of a task, until
// [Queue.Resume]. Jobs that run go on. Pausing twice is no error.
func (q *Queue) Pause(ctx context.Context, kind PauseKind, name string) error {
	if err := checkPause(kind, name); err != nil {
		return err
	}
	return q.store.Update(ctx, func(tx backend.QueueTx) error { return tx.Pause(ctx, kind, name) })
}

// Resume ends a pause, and wakes executors. It reports whether there was one.
func (q *Queue) Resume(ctx context.Context, kind PauseKind, name string) (bool, error) {
	var was bool
	err := q.store.Update(ctx, func(tx backend.QueueTx) (err error) {
		was, err = tx.Resume(ctx, kind, name)
		return err
	})
	return was, err
}

// Pauses lists what is paused.
func (q *Queue) Pauses(ctx context.Context) ([]Pause, error) {
	var pauses []Pause
	err := q.store.View(ctx, func(tx backend.QueueTx) (err error) {
		pauses, err = tx.Pauses(ctx)
		return err
	})
	return pauses, err
}

func checkPause(kind PauseKind, name string) error {
	if kind != PauseGroup && kind != PauseTask {
		return fmt.Errorf("pause %s %q: only a group or a task can be paused", kind, name)
	}
	if name == "" || len(name) > maxField || !text.Valid(name) {
		return fmt.Errorf("pause %s %q: use a name of 1 to %d bytes", kind, name, maxField)
	}
	return nil
}
