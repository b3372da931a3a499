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
		s.Says(t, ui.Done, "task backfill a --from 3d --to 1d", "submitted: ", "already had jobs: 0")
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

// A pause shows with who, why and until when, leaves the task's definition alone, and
// ends with resume.
func TestTaskPause(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		for _, id := range []string{"a", "b", "c"} {
			s.Must(t, "task", "add", id, "--handler", "h"+id, "--timer", "yearly", "--group", "g")
		}
		s.Must(t, "scheduler", "--once")
		s.Env["USER"] = "ada"
		s.Says(t, ui.Done, "task pause a b --until 2099-01-01 --reason 'the disk is full'", "paused a until 2099-01-01", "paused b until 2099-01-01")
		s.Says(t, ui.Done, "task list", "a paused - paused until 2099-01-01", "c not run yet - in ")
		s.Says(t, ui.Done, "task list --state paused", "hb", "! hc")
		s.Says(t, ui.Done, "task show a", "state paused", "- It has been paused by ada@", "next run paused until 2099-01-01", "until 2099-01-01 00:00:00 UTC. Reason: the disk is full. What falls due meanwhile is skipped.", "! starts")
		s.Says(t, ui.Done, "why a", "state paused", "- It has been paused by ada@", "the disk is full", "nextrun task resume a")
		var tasks []struct {
			Until *string `json:"paused_until"`
		}
		if s.JSON(t, &tasks, "task", "list"); len(tasks) != 3 || tasks[0].Until == nil || *tasks[0].Until != "2099-01-01T00:00:00Z" || tasks[2].Until != nil {
			t.Errorf("as JSON: %+v", tasks)
		}
		s.Says(t, ui.Done, "task run a", "(it is paused, and runs once all the same)")
		s.Says(t, ui.Done, "job list --task a", "JOB TASK HANDLER")
		s.Says(t, ui.Done, "task export", "! paused")
		s.Says(t, ui.Done, "task resume --group g", "resumed a", "resumed b", "c was not paused")
		s.Says(t, ui.Done, "task list", "! paused")
		s.Says(t, ui.Done, "task pause --handler hc", "paused c; to end the pause: nextrun task resume c")
		s.Says(t, ui.Done, "task resume --all", "a was not paused", "resumed c")
		const none = "note: no run of c falls due before then, so the pause skips none"
		s.Says(t, ui.Done, "task pause c --until 1s", "paused c until ", none)
		s.Says(t, ui.Done, "task pause c --until 2099-01-01", "! "+none)
		s.Says(t, ui.WrongUsage, "task pause", "name either tasks, or --all")
		s.Says(t, ui.WrongUsage, "task pause a --all", "either")
		s.Says(t, ui.WrongUsage, "task pause a --until 2020-01-01", "paused_until", "use a time from now on")
		s.Says(t, ui.WrongUsage, "task pause a --reason "+strings.Repeat("x", 255), "paused_reason", "254")
	})
}

// One tick is skipped and put back by a command, and all that shows the task says so.
func TestSkip(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "t", "--handler", "x", "--timer", "*-*-* 02:00", "--starts", "2090-01-01")
		s.Says(t, ui.Done, "task skip t --reason 'server moves'", "t: skips the tick of 2090-01-01 02:00:00 UTC; to undo that: nextrun task skip t 2090-01-01T02:00:00Z --undo")
		s.Must(t, "task", "skip", "t", "2090-01-02 02:00")
		for _, command := range []string{"task show t", "why t"} {
			s.Says(t, ui.Done, command, "Its tick of 2090-01-01 02:00:00 UTC will be left out by hand, with the note", `server moves".`, "Its tick of 2090-01-02 02:00:00 UTC will be left out by hand")
		}
		var shown struct {
			Skips []struct{ Due, Reason string }
		}
		if s.JSON(t, &shown, "task", "show", "t"); len(shown.Skips) != 2 || shown.Skips[0].Due != "2090-01-01T02:00:00Z" || !strings.HasSuffix(shown.Skips[0].Reason, "server moves") {
			t.Errorf("task show --json: %+v", shown)
		}
		s.Must(t, "task", "skip", "t", "--undo", "2090-01-02 02:00")
		s.Must(t, "task", "skip", "t", "--undo")
		s.Says(t, ui.WrongUsage, "task skip t --undo", "no tick to come is skipped")
		s.Says(t, ui.WrongUsage, "task skip t '2090-01-01 03:00'", "the task has no tick at 2090-01-01 03:00:00 UTC; its next one is that of 2090-01-02 02:00:00 UTC")
		s.Says(t, ui.Failed, "task skip nobody", `task "nobody": not found; see: nextrun task list`)
		s.Must(t, "task", "add", "u", "--handler", "x", "--timer", "*:0/1")
		s.Must(t, "task", "skip", "u")
		s.Says(t, ui.Done, "preview", " u: tick of ")
		s.Exec(t, "INSERT INTO periodic_tick (task_id, due, decision) VALUES ('t', '2090-01-01 03:00:00', 'skipped')")
		for _, command := range []string{"why t", "check"} {
			s.Says(t, ui.Done, command, "2090-01-01 03:00:00 UTC, but its timer has no tick then")
		}
	})
}
