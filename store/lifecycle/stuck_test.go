package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/nextrun/nextrun/internal/service"
)

// The watchdog keeps silent about a loop that is stuck, and only about that: trouble
// with the database goes by without a restart.
func TestWatchdogIsAboutStuckLoops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		stuck bool
	}{
		{nil, false},
		{errors.New("connection refused"), false},
		{fmt.Errorf("no round has ended for 7m: %w", service.ErrStalled), true},
	} {
		var s stages
		err := s.add(Stage{Name: "executor", Health: func(context.Context) error { return c.err }, watchdog: true})
		if err := errors.Join(err, s.up(t.Context(), nobody)); err != nil {
			t.Fatal(err)
		}
		if got := s.stuck(t.Context()); got != c.stuck {
			t.Errorf("stuck with %v: %v", c.err, got)
		}
	}
}

// When a stop is hurried, the stage whose turn it is gives up, and what is left gets a
// last moment each to release what it holds.
func TestStopGivesALastMoment(t *testing.T) {
	t.Parallel()
	var s stages
	s.hurry = make(chan struct{})
	tried := 0
	try := func(ctx context.Context) error {
		tried++
		return ctx.Err()
	}
	err := s.add(Stage{Name: "scheduler", Down: try},
		Stage{Name: "executor", Down: func(ctx context.Context) error { close(s.hurry); <-ctx.Done(); return nil }})
	if err := errors.Join(err, s.up(t.Context(), nobody)); err != nil {
		t.Fatal(err)
	}
	if err := s.down(t.Context()); err != nil || tried != 1 {
		t.Errorf("down = %v, the scheduler was stopped %d times", err, tried)
	}
}
