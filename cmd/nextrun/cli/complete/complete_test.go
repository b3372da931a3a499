package complete_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

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
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {zip: {command: [zip]}}\nqueues: {river: {type: river}}\n")
		s.Exec(t, `INSERT INTO periodic_task (id, task, group_, timer) VALUES
			('nightly', 'backup', 'ops', 'daily'), ('nice', 'mail', 'shop', 'hourly'), ('other', 'mail', 'shop', 'hourly')`)
		s.Exec(t, `INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e1', 'billing', 'paid', 'a', 1)`)
		s.Exec(t, `INSERT INTO outbox_message (event_id, topic) VALUES ('e1', 'billing')`)
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
			{"task list --group ", []string{"ops", "shop"}},
			{"job submit ", []string{"backup", "mail", "zip"}},
			{"job show ", []string{jid}},
			{"job cancel " + jid[:3], []string{jid}},
			{"event resend ", []string{"e1"}},
			{"event list --topic b", []string{"billing"}},
			{"lock release s", []string{"scheduler"}},
			{"queue check ", []string{"river"}},
			{"task add x --sink ", []string{"job", "event", "river"}},
			{"preview --with o", []string{"other="}},
		} {
			args := append([]string{"--config", config}, strings.Split(test.args, " ")...)
			if got := proposed(t, s, args...); !slices.Equal(got, test.want) {
				t.Errorf("%q: %q, want %q", test.args, got, test.want)
			}
		}
	})
}

func TestCompletesWords(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]string{
		"job list --state s":           {"scheduled", "success"},
		"task list --state pa":         {"paused"},
		"tick list --decision s":       {"submitted", "skipped"},
		"task add a --overlap ":        {"skip", "queue", "replace", "allow"},
		"task set a --catchup ":        {"one", "none", "all"},
		"event list --status d":        {"dead"},
		"serve --mode l":               {"leader"},
		"task list --color=":           {"auto", "always", "never"},
		"next daily --zone Europe/Ber": {"Europe/Berlin"},
		"tick list --since y":          {"yesterday"},
		"task pause a --until t":       {"tomorrow"},
		"next ev":                      {"every 15m"},
		"help la":                      nil,
		"task list --limit ":           nil,
		"help ti":                      {"tick"},
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
		for _, args := range []string{"task show ", "job submit ", "queue check "} {
			if got := proposed(t, s, strings.Split(args, " ")...); got != nil {
				t.Errorf("%s, %q: %q", db, args, got)
			}
		}
	}
}
