package dashboard

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
)

// manyTasks is from how many tasks on all who look within some seconds share what all tasks have to be read for. With fewer tasks,
// each look is new.
const manyTasks = 1000

// dearTimeout is how long it may take.
const dearTimeout = 2 * time.Second

// dear reads what costs the more the more tasks there are.
func dear[T any](ctx context.Context, s *source, t *figures.Totals, key string, age time.Duration, load func(context.Context) (T, error)) (T, error) {
	if t.Enabled+t.Paused+t.Blocked+t.Disabled < manyTasks {
		return load(ctx)
	}
	value, err := s.shared.Get(key, s.now(), age, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dearTimeout) // others wait for it, too
		defer cancel()
		return load(ctx)
	})
	typed, _ := value.(T)
	return typed, err
}

// together does two things at the same time, and returns the first error: the pages have two connections.
func together(one, other func() error) error {
	done := make(chan error, 1)
	go func() { done <- one() }()
	err := other()
	if first := <-done; first != nil {
		return first
	}
	return err
}

// A look at all tasks is as old as a refresh, a count of all ticks of a day a minute.
const (
	lookAge  = frame.AnswerAge
	countAge = time.Minute
)
