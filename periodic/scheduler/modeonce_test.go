package scheduler_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

func TestRunOnceInModesWithALock(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "t", "yearly")
		once := func(mode scheduler.Mode) (*events, error) {
			s, told := f.inMode(f.db.Periodic(), "once", mode)
			return told, s.RunOnce(f.Context())
		}
		if _, err := once(scheduler.ModeLeader); err != nil {
			f.Fatal(err)
		}
		f.want(0, "SELECT count(*) FROM periodic_task WHERE due IS NULL")
		if _, err := once(scheduler.ModeExclusive); err != nil {
			f.Fatal(err) // the first has released it
		}
		f.exec(steal + `, expires = '9999-01-01 00:00:00.000000', heartbeat = acquired`)
		f.due("t", time.Second)
		told, err := once(scheduler.ModeLeader)
		if err != nil {
			f.Errorf("RunOnce while another leads: %v, want nil", err)
		}
		told.until(f, "standby", kindOf(scheduler.EventStandby))
		var held *leader.HeldError
		if _, err := once(scheduler.ModeExclusive); !errors.As(err, &held) {
			f.Errorf("RunOnce in mode exclusive while another holds the lock: %v, want a HeldError", err)
		}
		f.want(0, "SELECT count(*) FROM job")
	})
}

func TestLocksOfDifferentNamesLeadSideBySide(t *testing.T) {
	both(t, func(f *fixture) {
		for _, name := range []string{"one", "two"} {
			s, _ := f.inMode(f.db.Periodic(), name, scheduler.ModeExclusive, func(c *scheduler.Config) { c.Lock.Name = name })
			f.begin(s)
		}
		f.want(2, "SELECT count(*) FROM scheduler_lock WHERE token = 1")
	})
}

// lockless is a store without locks: mode shared must not ask for them.
type lockless struct{ scheduler.Store }

func (lockless) Locks() leader.Store { panic("mode shared asked for the lock") }

func TestSharedNeverTouchesTheLock(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "t", "yearly")
		s, _ := f.inMode(lockless{f.db.Periodic()}, "a", scheduler.ModeShared)
		if err := s.Join(f.Context()); err != nil {
			f.Error(err)
		}
		if err := s.RunOnce(f.Context()); err != nil {
			f.Error(err)
		}
		f.want(0, "SELECT count(*) FROM scheduler_lock")
	})
}

func TestStopAfterJoinReleases(t *testing.T) {
	both(t, func(f *fixture) {
		s, _ := f.inMode(f.db.Periodic(), "a", scheduler.ModeExclusive)
		if err := s.Join(f.Context()); err != nil {
			f.Fatal(err)
		}
		f.want(1, "SELECT count(*) FROM scheduler_lock WHERE expires > heartbeat")
		f.stop(s)
		f.want(1, "SELECT count(*) FROM scheduler_lock WHERE expires < heartbeat")
	})
}

func TestModeConfigurationIsValidated(t *testing.T) {
	both(t, func(f *fixture) {
		for want, change := range map[string]func(*scheduler.Config){
			"scheduler.Config.Mode":                  func(c *scheduler.Config) { c.Mode = "loner" },
			"scheduler.Config.Lock: leader.Config.H": func(c *scheduler.Config) { c.Lock.Heartbeat = time.Minute },
			"leader.Config.TTL is 20s; use 30s":      func(c *scheduler.Config) { c.Lock.TTL = 20 * time.Second },
		} {
			cfg := f.config("a")
			cfg.Mode = scheduler.ModeLeader
			change(&cfg)
			_, err := scheduler.New(f.db.Periodic(), cfg)
			if f.Kind == "sqlite" && cfg.Lock.TTL != 0 {
				continue // no timeout ends a transaction there
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				f.Errorf("New = %v, want it to tell of %s", err, want)
			}
		}
	})
}
