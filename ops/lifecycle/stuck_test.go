package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
		p, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		p.Add(Stage{Name: "executor", Health: func(context.Context) error { return c.err }, service: &hurrying{}})
		p.done = 1
		if got := p.stuck(t.Context()); got != c.stuck {
			t.Errorf("stuck with %v: %v", c.err, got)
		}
	}
}

// hurrying is a service that notes a hurry.
type hurrying struct {
	Service
	hurried bool
}

func (h *hurrying) Hurry()                { h.hurried = true }
func (h *hurrying) Done() <-chan struct{} { done := make(chan struct{}); close(done); return done }

// When a stop is hurried, each stage gets a last moment to release what it holds.
func TestHurryGivesALastMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		executor := &hurrying{}
		slow := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		p.Add(Stage{Name: "lock", Down: func(ctx context.Context) error { return ctx.Err() }},
			Stage{Name: "scheduler", Down: slow}, Stage{Name: "executor", Down: slow, service: executor})
		if err := p.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Hour, p.Hurry)
		began := time.Now()
		err = p.Stop(t.Context())
		if took := time.Since(began); took != time.Hour+2*lastHurried || !executor.hurried {
			t.Errorf("the stop took %s, the executor was hurried: %v; want an hour and a moment for each of two", took, executor.hurried)
		}
		var stage *StageError
		if !errors.As(err, &stage) || stage.Stage != "executor" || strings.Contains(err.Error(), "lock") {
			t.Errorf("stop = %v, want failures of executor and scheduler only", err)
		}
	})
}
