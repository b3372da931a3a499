package transfer_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

var update = flag.Bool("update", false, "write the reports that the tests compare with")

const samples = "../../../../testdata/import/"

// imports are the samples by kind.
var imports = []struct{ kind, file string }{
	{"crontab", "crontab"}, {"timer", "timers"}, {"cronjob", "cronjobs"},
	{"pgcron", "pgcron.csv"},
}

// The reports, the handlers and the rows of the samples are right, line by line; a
// second import changes nothing.
func TestImportOfSamples(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, sample := range imports {
			flags := []string{"import", sample.kind, samples + sample.file, "--prefix", strings.ReplaceAll(sample.file, ".", "-")}
			if sample.kind == "crontab" || sample.kind == "timer" {
				flags = append(flags, "--zone", "Europe/Berlin")
			}
			dry := s.Run(t.Context(), append(flags, "--dry-run", "--handlers", "-")...)
			if dry.Exit != ui.Changes {
				t.Errorf("%s: exit code %d, want %d", sample.file, dry.Exit, ui.Changes)
			}
			if list := s.Must(t, "task", "export"); strings.Contains(list, sample.file+"\n") {
				t.Errorf("%s: the dry run has written\n%s", sample.file, list)
			}
			s.Must(t, flags...)
			again := s.Run(t.Context(), append(flags, "--dry-run")...)
			if again.Exit != ui.Done || !strings.Contains(again.Stdout, "; to change: 0 of ") || strings.Contains(again.Stdout, "gone") {
				t.Errorf("%s: a second import ends with %d:\n%s%s", sample.file, again.Exit, again.Stdout, again.Stderr)
			}
			wantGolden(t, sample.file, dry.Stderr+"\n"+dry.Stdout)
		}
		wantGolden(t, "tasks", subjects.ReplaceAllString(s.Must(t, "task", "export"), "subject: HOST:$1"))
	})
}

var subjects = regexp.MustCompile(`subject: .*/testdata/import/(.*)`)

func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(samples, "reports", name+".txt")
	got = strings.ReplaceAll(got, samples, "")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%s differs (%v); -update writes it. Now:\n%s", path, err, got)
	}
}
