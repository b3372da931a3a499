package scheduler_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// gate is somebody's code in the way of a scheduler: from a line or an event about a tick on it holds its caller.
type gate struct{ held, open chan struct{} }

func (g *gate) wait() {
	select {
	case g.held <- struct{}{}:
	default:
	}
	<-g.open
}

func (g *gate) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "job submitted") {
		g.wait()
	}
	return len(line), nil
}

func (g *gate) asHook(c *scheduler.Config) {
	seen := c.Observe
	c.Observe = func(e scheduler.Event) {
		if seen(e); e.Kind == scheduler.EventTick {
			g.wait()
		}
	}
}

func (g *gate) asLog(c *scheduler.Config) {
	c.Logger = slog.New(slog.NewTextHandler(g, nil))
}

// A leader whose loop stands still, be it in a hook or a logger of somebody's, loses the lock to another one, and writes
// nothing when it goes on.
func TestLeaderThatStandsStillLosesItsLock(t *testing.T) {
	for name, way := range map[string]func(*gate) func(*scheduler.Config){
		"hook": func(g *gate) func(*scheduler.Config) { return g.asHook },
		"log":  func(g *gate) func(*scheduler.Config) { return g.asLog },
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(f *fixture) {
				g := &gate{held: make(chan struct{}, 1), open: make(chan struct{})}
				f.exec(insertTask, "t", "yearly")
				_, toldA := f.start(f.quick().Periodic(), as("a", scheduler.ModeLeader), shortTTL, way(g))
				toldA.until(f, "leadership of a", kindOf(scheduler.EventLeading))
				_, toldB := f.start(f.quick().Periodic(), as("b", scheduler.ModeLeader), shortTTL)
				toldB.until(f, "standby of b", kindOf(scheduler.EventStandby))
				f.runNow("t")
				<-g.held
				toldB.until(f, "leadership of b", kindOf(scheduler.EventLeading))
				f.runNow("t")
				toldB.until(f, "tick by b", kindOf(scheduler.EventTick))
				close(g.open)
				toldA.until(f, "standby of a", kindOf(scheduler.EventStandby))
				f.runNow("t")
				storetest.Eventually(f, "another tick by b", func() bool {
					return f.one("SELECT count(*) FROM periodic_tick WHERE worker LIKE 'b@%'") == "2"
				})
				f.want(1, "SELECT count(*) FROM periodic_tick WHERE worker LIKE 'a@%'")
				f.guarantees()
			})
		})
	}
}

// broken is a database that fails.
type broken struct{ scheduler.Store }

func (broken) OpensEarly() bool                                             { return false }
func (broken) Queues(periodic.Submitters) map[periodic.Sink]periodic.Queue  { return nil }
func (broken) Watch(ctx context.Context, _ string, _ func(), _ func(error)) { <-ctx.Done() }
func (broken) Fault(error) service.Fault                                    { return service.FaultDatabase }
func (broken) Read(context.Context, func(batch.Tx) error) error             { return errors.ErrUnsupported }
func (broken) Prune(context.Context, scheduler.Retention) (p scheduler.Pruned, err error) {
	return p, nil
}
func (broken) Update(context.Context, time.Duration, func(batch.Tx) error) error {
	return errors.ErrUnsupported
}

// A loop that somebody's code holds up is stuck, which its health says, until it goes on.
func TestHealthOfALoopThatStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		g := &gate{held: make(chan struct{}, 1), open: make(chan struct{})}
		s, err := scheduler.New(broken{}, scheduler.Config{Name: "test", Logger: log, Observe: func(scheduler.Event) { g.wait() }})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-g.held
		for _, after := range []struct {
			wait  time.Duration
			stuck bool
		}{{50 * time.Second, false}, {11 * time.Second, true}} {
			<-time.After(after.wait)
			if err := s.Health(t.Context()); errors.Is(err, service.ErrStalled) != after.stuck {
				t.Errorf("after another %s: %v", after.wait, err)
			}
		}
		close(g.open)
		synctest.Wait()
		if err := s.Health(t.Context()); errors.Is(err, service.ErrStalled) || err == nil {
			t.Errorf("when it goes on, without a database: %v", err)
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
