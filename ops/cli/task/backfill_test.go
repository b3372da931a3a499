package task_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestTaskBackfill(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "a", "--handler", "t", "--timer", "*-*-* 02:00", "--overlap", "allow")
		const days = "task backfill a --from 2026-03-01 --to 2026-03-04"
		s.Says(t, ui.Done, days, "2026-03-01 02:00:00", "2026-03-03 02:00:00", "submitted: 3, already had jobs: 0")
		s.Says(t, ui.Done, days, "submitted: 0, already had jobs: 3")
		s.Says(t, ui.Failed, "task backfill b --from 2026-03-01", "not found")
		s.Says(t, ui.WrongUsage, "task backfill a", "missing --from")
		s.Says(t, ui.WrongUsage, "task backfill a --from 2026-03-01 --to 2999-01-01", "future")
		s.Says(t, ui.WrongUsage, "task backfill a --from 2026-03-02 --to 2026-03-01", "before --to")
	})
}

// A task that must not overlap has the second job submitted when the first has
// ended; a signal meanwhile says how to go on.
func TestTaskBackfillWaits(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "a", "--handler", "t", "--timer", "*-*-* 02:00")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan clitest.Result, 1)
		go func() { ended <- s.Run(ctx, "task", "backfill", "a", "--from", "2026-03-01", "--to", "2026-03-04") }()
		var jobs []struct{ JID, State string }
		for len(jobs) < 2 { // the first job ends, the second goes on
			s.JSON(t, &jobs, "job", "list")
			if len(jobs) == 1 && jobs[0].State == "waiting" {
				s.Must(t, "job", "cancel", jobs[0].JID)
			}
		}
		cancel()
		r := <-ended
		first := jobs[len(jobs)-1].JID
		if r.Exit != ui.Failed || strings.Count(r.Stderr, "waiting for the end of job") != 1 || !strings.Contains(r.Stderr, "job "+first+", which is waiting") ||
			!strings.Contains(r.Stderr, "run the same command to continue") {
			t.Errorf("after the signal: exit code %d\n%s%s", r.Exit, r.Stdout, r.Stderr)
		}
	})
}
