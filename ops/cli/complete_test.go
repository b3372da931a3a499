package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// proposed are the values that the shell gets for a line, without their descriptions.
func proposed(t *testing.T, s clitest.Shell, line string) (list []string) {
	t.Helper()
	r := s.Run(t.Context(), append([]string{"__complete"}, strings.Split(line, " ")...)...)
	if strings.Contains(r.Stderr, "rror") || r.Exit != 0 {
		t.Errorf("%q: exit code %d, %s", line, r.Exit, r.Stderr)
	}
	lines := strings.Split(strings.TrimSpace(r.Stdout), "\n")
	for _, line := range lines[:len(lines)-1] { // the last one is for the shell
		name, _, _ := strings.Cut(line, "\t")
		list = append(list, name)
	}
	return list
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, group_, timer) VALUES
			('nightly', 'backup', 'ops', 'daily'), ('nice', 'mail', 'shop', 'hourly'), ('other', 'mail', 'shop', 'hourly')`)
		jid := s.Submit(t, "backup")
		for line, want := range map[string][]string{
			"task show ":            {"nice", "nightly", "other"},
			"task show ni":          {"nice", "nightly"},
			"task show nice ":       nil,
			"task rm nice ":         {"nightly", "other"},
			"tick list --task n":    {"nice", "nightly"},
			"job show ":             {jid},
			"job cancel " + jid[:3]: {jid},
			"task add a --overlap ": {"skip", "queue", "replace", "allow"},
			"serve --mode ":         {"shared", "leader", "exclusive"},
			"task list --limit ":    nil,
			"job list --state ":     {"waiting", "scheduled", "running", "retrying", "success", "failed", "cancelled"},
		} {
			if got := proposed(t, s, line); !slices.Equal(got, want) {
				t.Errorf("%q: %q, want %q", line, got, want)
			}
		}
	})
}

// A database that does not answer means no values, and no message on the terminal.
func TestCompletionIsSilentOnErrors(t *testing.T) {
	t.Parallel()
	for _, db := range []string{"postgres://u:p@127.0.0.1:1/x", "sqlite:" + filepath.Join(t.TempDir(), "x.db"), "mysql://x"} {
		s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": db, "NEXTRUN_CONFIG": "/no/such/file.yaml"}}
		for _, line := range []string{"task show ", "job show "} {
			if got := proposed(t, s, line); got != nil {
				t.Errorf("%s, %q: %q", db, line, got)
			}
		}
	}
}
