package task_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/store"
)

// What commands change is recorded with who did it; what a scheduler does is nobody's.
func TestCommandsAreRecorded(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Env["USER"] = "ada"
		s.Must(t, "task", "add", "a", "--handler", "h", "--timer", "yearly", "--args", `{"password": "hush"}`)
		s.Must(t, "task", "set", "a", "--timer", "daily", "--args", `{"password": "quiet"}`)
		s.Must(t, "task", "pause", "a", "--reason", "moving")
		s.Must(t, "task", "resume", "a")
		s.Must(t, "task", "disable", "a")
		s.Must(t, "task", "run", "a")
		s.Must(t, "scheduler", "--once")
		s.Must(t, "task", "enable", "a")
		s.Must(t, "job", "pause", "--group", "g")
		s.Must(t, "task", "rm", "a")
		db, err := store.Open(t.Context(), s.Env["NEXTRUN_DB"], store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		actions, err := figures.Of(db).Actions(t.Context(), "", "", 100)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range actions {
			if !strings.HasPrefix(a.Who, "ada@") || a.At.IsZero() || strings.Contains(a.Detail, "quiet") {
				t.Errorf("%+v", a)
			}
			got = append(got, fmt.Sprintf("%s %s %s", a.Action, a.TaskID, a.Detail))
		}
		want := []string{"delete a ", "pause jobs  group g", "enable a ", "run a tick of ", "disable a ", "resume a ", "pause a paused by ada@",
			`change a timer from "yearly" to "daily"; args`, "add a timer yearly"}
		for i, w := range want {
			if i >= len(got) || !strings.HasPrefix(got[i], w) {
				t.Errorf("recorded:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				break
			}
		}
	})
}

// A tick that is due, and that a change of the timer drops, is named.
func TestTaskSetNamesATickThatItDrops(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "a", "--handler", "h", "--timer", "yearly")
		s.Must(t, "scheduler", "--once")
		const dropped = "was due and not submitted yet; it is dropped, because the new timer plans from now on. To run the task now: nextrun task run a"
		set := func(names bool, flags ...string) {
			t.Helper()
			if said := s.Run(t.Context(), append([]string{"task", "set", "a"}, flags...)...).Stderr; strings.Contains(said, dropped) != names {
				t.Errorf("task set a %q says: %s", flags, said)
			}
		}
		set(false, "--timer", "daily")
		s.Must(t, "scheduler", "--once")
		s.Must(t, "task", "run", "a")
		set(false, "--subject", "mail", "--timer", "daily")
		set(true, "--timer", "hourly")
	})
}
