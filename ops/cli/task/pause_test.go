package task_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

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
		s.Says(t, ui.Done, "task show a", "state paused", "- It has been paused by ada@", "next run paused until 2099-01-01", "until 2099-01-01 00:00:00 UTC: the disk is full", "! starts")
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
			s.Says(t, ui.Done, command, "Its tick of 2090-01-01 02:00:00 UTC will be left out by hand", ": server moves", "Its tick of 2090-01-02 02:00:00 UTC will be left out by hand")
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
