package ui_test

import (
	"testing"

	"github.com/nextrun/nextrun/ops/cli/ui"
)

// The commands of a hint work where the reader is, and repeat no password.
func TestHintNamesTheDatabase(t *testing.T) {
	t.Parallel()
	const hint = "to run it: nextrun task run nightly-backup"
	for db, want := range map[string]string{
		"":                         hint,
		"sqlite:demo.db":           "to run it: nextrun --db sqlite:demo.db task run nightly-backup",
		"postgres://ada@db/jobs":   "to run it: nextrun --db postgres://ada@db/jobs task run nightly-backup",
		"postgres://ada:pw@db/job": hint,
		"sqlite:my files.db":       hint,
	} {
		env := &ui.Env{Flags: ui.GlobalFlags{DB: db}}
		if got := env.Hint(hint); got != want {
			t.Errorf("--db %q: %q, want %q", db, got, want)
		}
	}
}
