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
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

func TestMain(m *testing.M) {
	migrated.As("scheduler", "operator")
	migrated.VerifyTestMain(m)
}

func TestStartAndStop(t *testing.T) {
	both(t, func(f *fixture) {
		s, _ := f.start(f.db.Periodic())
		if err := s.RunOnce(context.Background()); !errors.Is(err, scheduler.ErrStarted) {
			f.Errorf("RunOnce after Start returned %v", err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended, _ := f.make(f.db.Periodic())
		f.done(ended.Start(ctx))
		cancel() // which is a Stop
		<-ended.Done()
	})
}

// Stop finishes the batch in flight.
func TestStopFinishesTheBatch(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.due("report", time.Second)
		begun, goOn := make(chan struct{}), make(chan struct{})
		h := &hooked{Store: f.db.Periodic(), beforeUpdate: func(n int64) error {
			if n == nthTake {
				close(begun)
				<-goOn
			}
			return nil
		}}
		s, _ := f.start(h)
		<-begun
		stopped := storetest.Stop(f, s.Stop)
		close(goOn)
		if err := <-stopped; err != nil {
			f.Error(err)
		}
		f.want(1, "SELECT count(*) FROM job")
		f.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
	})
}

func TestConfigIsValidated(t *testing.T) {
	good := scheduler.Config{Name: "host"}
	for field, change := range map[string]func(*scheduler.Config){
		"Name is \"\"":              func(c *scheduler.Config) { c.Name = "" },
		"Name is \"a/b\"":           func(c *scheduler.Config) { c.Name = "a/b" },
		"Name is \"a\\nb\"":         func(c *scheduler.Config) { c.Name = "a\nb" },
		"Name is \"xxxx":            func(c *scheduler.Config) { c.Name = strings.Repeat("x", 201) },
		"Mode":                      func(c *scheduler.Config) { c.Mode = "loner" },
		"BatchSize is -1":           func(c *scheduler.Config) { c.BatchSize = -1 },
		"BatchSize is 10001":        func(c *scheduler.Config) { c.BatchSize = 10_001 },
		"Lease is 10ms":             func(c *scheduler.Config) { c.Lease = 10 * time.Millisecond },
		"Lead is 11s":               func(c *scheduler.Config) { c.Lead = 11 * time.Second; c.Lease = time.Hour },
		"Lead is 2s; use 1ms to 1s": func(c *scheduler.Config) { c.Lead = 2 * time.Second; c.Lease = 3 * time.Second },
		"PollInterval is -1s":       func(c *scheduler.Config) { c.PollInterval = -time.Second },
	} {
		cfg := good
		change(&cfg)
		if _, err := scheduler.New(noStore{}, cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := scheduler.New(noStore{}, good); err != nil {
		t.Error(err)
	}
}

// noStore is a store that New must not touch.
type noStore struct{ scheduler.Store }

func (noStore) Queues(periodic.Submitters) map[periodic.Sink]periodic.Queue {
	return nil
}

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

// A leader whose loop stands still, in a hook or in a logger, loses the lock to another one, and writes
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
