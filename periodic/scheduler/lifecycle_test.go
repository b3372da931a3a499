package scheduler_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
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

// Stop finishes the batch in hand.
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
