package task_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

func TestTaskLifecycle(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Done, "task list", "none; ")
		s.Says(t, ui.Done, `task add backup --handler dump --timer '2099-01-01 02:00' --args {"a":1} --overlap queue --deadline 1h --jitter 5 --starts '2026-01-01 00:00' --summary 'all of it'`,
			"added backup", "ELAPSES ", "2099-01-01 02:00:00", "+ 1 s, its part of the jitter")
		s.Says(t, ui.Failed, "task add backup --handler x --timer daily", "exists already", "task set")
		s.Says(t, ui.Done, "task list", "backup not run yet - not planned yet - 2099-01-01 02:00 dump -")
		s.Must(t, "scheduler", "--once")
		s.Says(t, ui.Done, "task show backup", "task backup", `args {"a":1}`, "overlap queue", "deadline 3600 s", "jitter 5 s", "summary all of it", "next run ")
		s.Says(t, ui.Done, "task set backup --deadline none --starts none --timer '*-*-* 02:00'", "changed backup", "ELAPSES ")
		s.Says(t, ui.Done, "task show backup", "! starts", "! deadline")
		s.Says(t, ui.Done, "task disable backup", "disabled backup")
		s.Says(t, ui.Done, "task list", "backup disabled - disabled - *-*-* 02:00 dump")
		s.Says(t, ui.Done, "task run backup", "backup: job ")
		s.Says(t, ui.Failed, "task run backup", "still waiting")
		s.Says(t, ui.Done, "task show backup", "last run waiting")
		s.Says(t, ui.Done, "task enable backup", "enabled backup")
		s.Says(t, ui.Done, "task rm backup", "deleted backup")
		for _, command := range []string{"show", "enable", "disable", "rm", "run", "pause"} {
			s.Says(t, ui.Failed, "task "+command+" backup", `task "backup"`, "not found", "nextrun task list")
		}
		s.Says(t, ui.Failed, "task set backup --group x", "not found")
		s.Must(t, "task", "add", "a\x1b[2J\nb", "--handler", "t", "--timer", "daily")
		s.Says(t, ui.Done, "task list", "! \x1b") // names cannot move the cursor of a terminal
	})
}

func TestTaskAddTakesEveryColumn(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Stdin = `{"from": "stdin"}`
		s.Exec(t, "INSERT INTO periodic_calendar (name, first_day) VALUES ('c', '2035-12-24')")
		s.Must(t, "task", "add", "a", "--handler", "t", "--timer", "daily", "--group", "g", "--args", "-", "--subject", "su",
			"--submitter", "me", "--summary", "sum", "--priority", "10", "--starts", "2026-01-01T00:00:00+01:00",
			"--ends", "2030-01-01", "--overlap", "allow", "--catchup", "all", "--sink", "job", "--grace", "2m",
			"--deadline", "0", "--jitter", "3", "--retry-limit", "0", "--retry-delay", "2m", "--timeout", "1h", "--exclude-calendars", "c", "--disabled",
			"--catchup-limit", "5", "--pause-after", "3")
		var got map[string]any
		s.JSON(t, &got, "task", "show", "a")
		want := map[string]any{
			"id": "a", "handler": "t", "timer": "daily", "group": "g", "args": `{"from": "stdin"}`, "subject": "su",
			"submitter": "me", "summary": "sum", "priority": 10.0, "starts": "2025-12-31T23:00:00Z",
			"ends": "2030-01-01T00:00:00Z", "overlap": "allow", "catchup": "all", "sink": "job", "grace": 120.0,
			"deadline": 0.0, "jitter": 3.0, "enabled": false, "nextrun": "1970-01-01T00:00:00Z", "due": nil,
			"retry_limit": 0.0, "retry_delay": 120.0, "timeout": 3600.0, "exclude_calendars": "c",
			"catchup_limit": 5.0, "pause_after": 3.0,
			"problem": nil, "origin": nil, "paused": nil, "paused_until": nil, "paused_by": nil, "paused_reason": nil, "worker": nil, "marked": nil, "last_run": nil, "last_tick": nil, "state": "disabled", "attention": nil, "since": nil, "failures": 0.0, "next": nil, "last_success": nil, "skips": []any{}, "ticks": []any{}, "upcoming": []any{},
		}
		delete(got, "created")
		delete(got, "findings")
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		s.Must(t, "task", "set", "a", "--retry-limit", "none", "--retry-delay", "none", "--timeout", "none",
			"--catchup-limit", "none", "--pause-after", "none")
		s.JSON(t, &got, "task", "show", "a")
		for _, column := range []string{"retry_limit", "retry_delay", "timeout", "catchup_limit", "pause_after"} {
			if got[column] != nil {
				t.Errorf("%s is %v after it was set to none", column, got[column])
			}
		}
	})
}

// Who adds or changes a task is warned of a timer that never elapses, also while the task is disabled, and told of a due tick that
// the change drops; what cannot be is refused.
func TestTaskAddAndSetSayWhatIsOdd(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		const never = "warning: it never elapses"
		s.Says(t, ui.Done, "task add a --handler t --timer *-02-30", never)
		s.Says(t, ui.Done, "task add b --handler t --timer 2020-01-01 --disabled", never)
		s.Says(t, ui.Done, "task set a --timer daily --ends 2020-01-01", never)
		s.Says(t, ui.Done, "task set a --ends none", "! warning")
		s.Says(t, ui.Done, "task add by-hook --handler t --timer never", "! warning")

		const dropped = "was due and not submitted yet; it is dropped, because the new timer plans from now on. To run the task now: nextrun task run a"
		s.Must(t, "scheduler", "--once")
		s.Says(t, ui.Done, "task show by-hook", "state not run yet", "next run never", "! elapses")
		s.Exec(t, "UPDATE periodic_task SET nextrun = '2026-01-01 00:00:00' WHERE id = 'a'")
		s.Says(t, ui.Done, "task list", "due 3") // so many days ago
		s.Says(t, ui.Done, "task set a --subject mail --timer daily", "! "+dropped)
		s.Says(t, ui.Done, "task set a --timer hourly", dropped)

		const add = "task add c --handler t --timer daily "
		s.Says(t, ui.WrongUsage, add+"--args {", "args", "JSON")
		s.Says(t, ui.WrongUsage, add+"--starts 2026-01-02 --ends 2026-01-01", "ends", "later than starts")
		s.Says(t, ui.WrongUsage, add+"--group "+strings.Repeat("x", 255), "group", "255 characters")
		s.Says(t, ui.WrongUsage, "task add '' --handler t --timer daily", "id", "empty")
		s.Says(t, ui.WrongUsage, "task add c --handler t --timer 'Mon *-*-* 25:00'", "Mon *-*-* 25:00 ^")
		s.Says(t, ui.Done, "task list", "! daily")
	})
}

// On Docspell's database, commands that write tasks and check warn of what Docspell cannot read.
func TestWarningsOfDocspell(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Done, "task add 'a b' --handler backup --timer daily", "! Docspell cannot")
		s.Says(t, ui.Done, "check", "! Docspell cannot")
		s.Exec(t, `CREATE TABLE node (id varchar(254), type varchar(254), url varchar(254))`)
		s.Says(t, ui.Done, "task add a/b --handler backup --timer daily", `warning: task "a/b": Docspell cannot read id "a/b"`)
		s.Says(t, ui.Done, "task add good --handler empty-trash --timer '*-*-* 02:00:00'", "! warning")
		s.Says(t, ui.Done, "check", `warning task a/b Docspell cannot read the timer "daily"`, `warning task a b Docspell 0.43 has no task "backup"`, "! task good")
		s.Says(t, ui.Done, "task set good --timer 'every 36h'", `warning: task "good": Docspell cannot read the timer "every 36h"`)
		s.Says(t, ui.Done, applied(t, "tasks:\n  filed: {handler: backup, timer: '*-*-* 03:00:00'}\n"), `warning: task "filed": Docspell 0.43 has no task "backup"`)
	})
}
