package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// What the name of the command says is not said again in its message.
func TestMessagesSayItOnce(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "a", "--handler", "t", "--timer", "daily")
		jid := s.Submit(t, "t")
		s.Submit(t, "t", "--task", "x", "--single")
		ended := s.Submit(t, "t")
		s.Must(t, "job", "cancel", ended)
		tasks := clitest.WriteFile(t, "tasks.yaml", "tasks: {r: {handler: t, timer: every -5m}}\n")
		none := filepath.Join(t.TempDir(), "none")
		for _, test := range []struct{ args, want string }{
			{"job cancel x", "job x: not found; see: nextrun job list"},
			{"job retry x", "job x: not found; see: nextrun job list"},
			{"job show x", "job x: not found; see: nextrun job list"},
			{"job log x", "job x: not found; see: nextrun job list"},
			{"job log --last nobody", `task "nobody": not found; see: nextrun task list`},
			{"job cancel " + ended, "job " + ended + ": the job has ended already"},
			{"job retry " + jid, "job " + jid + ": the job has not ended yet"},
			{"job submit t --task x --single", "job "},
			{"job submit t --single", "--single needs a --task"},
			{"job submit t --group \x00", "job 1 of 1: jobqueue.Job.Group is"},
			{"task show x", `task "x": not found; see: nextrun task list`},
			{"task add a --handler t --timer daily", `task "a": exists already; change it with: nextrun task set`},
			{"task apply -f " + tasks, `nothing was changed: task "r": timer "every -5m", at "-5m": an interval must be positive`},
			{"event resend x", "event x: not found; see: nextrun event list"},
			{"serve --config " + none, "start failed at configuration: open " + none + ": no such file"},
			{"task list --db sqlite:" + none, "open sqlite:" + none + ": there is no such file; run: nextrun migrate up --db sqlite:" + none},
		} {
			command, _, _ := strings.Cut(test.args, " --")
			words := strings.Fields(command)
			name := "nextrun " + strings.Join(words[:min(len(words), 2)], " ")
			r := s.Run(t.Context(), strings.Fields(test.args)...)
			if strings.Count(r.Stderr, "; see: ") > 1 {
				t.Errorf("%s: advises twice: %s", test.args, r.Stderr)
			}
			if r.Exit == 0 || !strings.HasPrefix(r.Stderr, name+": "+test.want) {
				t.Errorf("%s: exit code %d, %s", test.args, r.Exit, r.Stderr)
			}
		}
	})
}
