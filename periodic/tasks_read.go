package periodic

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/periodic/backend"
)

// Get returns a task.
func (s *Tasks) Get(ctx context.Context, id string) (Task, error) {
	var t Task
	err := s.store.View(ctx, func(tx backend.TaskTx) (err error) {
		t, err = tx.Get(ctx, id, false)
		return about(id, err)
	})
	return t, err
}

// List returns tasks in the order of their ids, without their args unless the
// filter asks for them.
func (s *Tasks) List(ctx context.Context, filter TaskFilter) ([]Task, error) {
	var list []Task
	err := s.store.View(ctx, func(tx backend.TaskTx) (err error) {
		list, err = tx.List(ctx, filter)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	return list, nil
}

// Ticks returns what became of ticks, the latest first.
func (s *Tasks) Ticks(ctx context.Context, filter TickFilter) ([]Tick, error) {
	if filter.Limit == 0 {
		filter.Limit = backend.DefaultTickLimit
	}
	var list []Tick
	err := s.store.View(ctx, func(tx backend.TaskTx) (err error) {
		list, err = tx.Ticks(ctx, filter)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list ticks: %w", err)
	}
	return list, nil
}
