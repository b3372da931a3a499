package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// proposed are the values that the shell gets, without their descriptions.
func proposed(t *testing.T, s clitest.Shell, args ...string) (list []string) {
	t.Helper()
	r := s.Run(t.Context(), append([]string{"__complete"}, args...)...)
	if strings.Contains(r.Stderr, "rror") || r.Exit != 0 {
		t.Errorf("%q: exit code %d, %s", args, r.Exit, r.Stderr)
	}
	lines := strings.Split(strings.TrimSpace(r.Stdout), "\n")
	for _, line := range lines[:len(lines)-1] { // the last one is for the shell
		name, _, _ := strings.Cut(line, "\t")
		list = append(list, name)
	}
	return list
}

func TestCompletesFromTheDatabase(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, group_, timer) VALUES
			('nightly', 'backup', 'ops', 'daily'), ('nice', 'mail', 'shop', 'hourly'), ('other', 'mail', 'shop', 'hourly')`)
		jid := s.Submit(t, "backup")
		for _, test := range []struct {
			args string
			want []string
		}{
			{"task show ", []string{"nice", "nightly", "other"}},
			{"task show ni", []string{"nice", "nightly"}},
			{"task show nice ", nil},
			{"task rm nice ", []string{"nightly", "other"}},
			{"why o", []string{"other"}},
			{"tick list --task n", []string{"nice", "nightly"}},
			{"job show ", []string{jid}},
			{"job cancel " + jid[:3], []string{jid}},
		} {
			if got := proposed(t, s, strings.Split(test.args, " ")...); !slices.Equal(got, test.want) {
				t.Errorf("%q: %q, want %q", test.args, got, test.want)
			}
		}
	})
}

func TestCompletesWords(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]string{
		"job list --state s":     {"scheduled", "success"},
		"task list --state pa":   {"paused"},
		"tick list --decision s": {"submitted", "skipped"},
		"task add a --overlap ":  {"skip", "queue", "replace", "allow"},
		"task set a --catchup ":  {"one", "none", "all"},
		"event list --status d":  {"dead"},
		"serve --mode l":         {"leader"},
		"task list --limit ":     nil,
	} {
		s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "sqlite:" + filepath.Join(t.TempDir(), "none.db")}}
		if got := proposed(t, s, strings.Split(args, " ")...); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}

// A database that does not answer means no values, and no message on the terminal.
func TestCompletionIsSilentOnErrors(t *testing.T) {
	t.Parallel()
	for _, db := range []string{"postgres://u:p@127.0.0.1:1/x", "sqlite:/no/such/dir/x.db", "mysql://x"} {
		s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": db, "NEXTRUN_CONFIG": "/no/such/file.yaml"}}
		for _, args := range []string{"task show ", "job show "} {
			if got := proposed(t, s, strings.Split(args, " ")...); got != nil {
				t.Errorf("%s, %q: %q", db, args, got)
			}
		}
	}
}
