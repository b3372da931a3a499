package scheduler_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

func TestRunOnceInModesWithALock(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "t", "yearly")
		once := func(mode scheduler.Mode) (*events, error) {
			s, told := f.make(f.db.Periodic(), as("once", mode))
			return told, s.RunOnce(f.Context())
		}
		if _, err := once(scheduler.ModeLeader); err != nil {
			f.Fatal(err)
		}
		f.want(0, "SELECT count(*) FROM periodic_task WHERE due IS NULL")
		if _, err := once(scheduler.ModeExclusive); err != nil {
			f.Fatal(err) // the first has released it
		}
		f.exec(`INSERT INTO scheduler_lock VALUES ('scheduler', 'thief', '', 0, 1, '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000', '9999-01-01 00:00:00.000000')`)
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

func TestStopAfterJoinReleases(t *testing.T) {
	both(t, func(f *fixture) {
		s, _ := f.make(f.db.Periodic(), as("a", scheduler.ModeExclusive))
		f.done(s.Join(f.Context()))
		f.want(1, "SELECT count(*) FROM scheduler_lock")
		f.stop(s)
		f.want(0, "SELECT count(*) FROM scheduler_lock")
	})
}
