package nextruntest_test

// The examples of docs/tutorials/embedding.md. A test compares both.

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/nextruntest"
	"github.com/nextrun/nextrun/periodic"
)

// It runs at night, also when clocks change.
func TestReportRunsAtNight(t *testing.T) {
	s := nextruntest.New(t, nextruntest.Options{Start: time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC)})
	s.Exec(`INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'report', '*-*-* 02:30 Europe/Berlin', 'allow')`)
	s.Advance(3 * 24 * time.Hour)
	// On 29 March 02:30 does not exist in Berlin: it runs at 03:30, which is 01:30 UTC.
	s.RequireSubmitted("report", "2026-03-28 01:30", "2026-03-29 01:30", "2026-03-30 00:30")
	s.RequireGuarantees()
}

// After an outage it runs once, for the newest tick that was missed.
func TestBackupCatchesUp(t *testing.T) {
	s := nextruntest.New(t, nextruntest.Options{})
	s.Exec(`INSERT INTO periodic_task (id, task, timer, args) VALUES ('backup', 'backup', 'hourly', '{"path": "/srv"}')`)
	s.Advance(90 * time.Minute)
	s.FinishJobs("backup")
	s.Outage(5 * time.Hour)
	s.RequireSubmitted("backup", "2026-01-01 01:00", "2026-01-01 06:00")
	s.RequireReason("backup", "2026-01-01 03:00", periodic.Missed, "")
	if jobs := s.Jobs("backup"); jobs[1].Args != `{"path": "/srv"}` {
		t.Errorf("its args are %s", jobs[1].Args)
	}
	s.RequireGuarantees()
}

// A run that takes too long does not pile up others.
func TestLongRunSkipsTheNext(t *testing.T) {
	s := nextruntest.New(t, nextruntest.Options{})
	s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('sync', 'sync', 'hourly')`)
	s.Advance(2*time.Hour + 10*time.Minute)
	s.FinishJobs("sync")
	s.Advance(2 * time.Hour)
	s.RequireSubmitted("sync", "2026-01-01 01:00", "2026-01-01 03:00")
	s.RequireReason("sync", "2026-01-01 02:00", periodic.Skipped, "had not ended")
}

// A pause for maintenance, and a change of the timer.
func TestPauseAndEdit(t *testing.T) {
	s := nextruntest.New(t, nextruntest.Options{})
	s.Exec(`INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('poll', 'poll', 'hourly', 'allow')`)
	s.Advance(time.Hour)
	tasks := periodic.NewTasks(s.DB().Tasks())
	if err := tasks.Pause(t.Context(), "poll", periodic.Pause{Until: s.Now().Add(150 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	s.AdvanceTo("2026-01-01 04:00")
	s.RequireReason("poll", "2026-01-01 02:00", periodic.Skipped, "paused")
	s.Exec(`UPDATE periodic_task SET timer = '*-*-* 0/6:00' WHERE id = ?1`, "poll")
	s.AdvanceTo("2026-01-01 12:30")
	s.RequireSubmitted("poll", "2026-01-01 01:00", "2026-01-01 04:00", "2026-01-01 06:00", "2026-01-01 12:00")
}

// The handler does its work, and is tried again when it fails.
func TestImportIsTriedAgain(t *testing.T) {
	s := nextruntest.New(t, nextruntest.Options{})
	s.Exec(`INSERT INTO periodic_task (id, task, timer, retry_limit, retry_delay) VALUES ('import', 'import', 'hourly', 1, 60)`)
	s.Advance(time.Hour)
	attempts := 0
	handler := func(ctx context.Context, job *jobqueue.JobContext) error {
		if attempts++; attempts == 1 {
			return errors.New("the server does not answer")
		}
		job.Log(jobqueue.Info, "imported 3 rows")
		return nil
	}
	first := s.Work("import", handler)
	if len(first) != 1 || first[0].Job.State != jobqueue.Stuck {
		t.Fatalf("first attempt: %+v", first)
	}
	s.Advance(first[0].Job.Retry.Sub(s.Now()))
	second := s.Work("import", handler)
	if len(second) != 1 || second[0].Job.State != jobqueue.Success || second[0].Job.Retries != 1 {
		t.Fatalf("second attempt: %+v", second)
	}
	s.RequireGuarantees()
}
