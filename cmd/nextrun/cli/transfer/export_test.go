package transfer_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// What was imported can be exported and imported again: the same rows and handlers come
// of it.
func TestExportAndImportAgain(t *testing.T) {
	t.Parallel()
	// What an export cannot hold: where a row comes from; the numbers and names of
	// pg_cron's jobs without a name.
	ignored := regexp.MustCompile(`(?m)^    (subject|summary|submitter): .*\n`)
	unwritable := map[string]string{
		"cronjobs": "shop-thin-out", "pgcron.csv": "close-month", // without a command; on another host
	}
	for _, sample := range imports {
		t.Run(sample.file, func(t *testing.T) {
			t.Parallel()
			clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
				dir := t.TempDir()
				var zone []string
				if sample.kind == "crontab" || sample.kind == "timer" {
					zone = []string{"--zone", "Europe/Berlin"}
				}
				handlers := filepath.Join(dir, "handlers.yaml")
				s.Must(t, append([]string{"import", sample.kind, samples + sample.file, "--handlers", handlers}, zone...)...)
				if id := unwritable[sample.file]; id != "" {
					s.Must(t, "task", "rm", id)
				}
				want := ignored.ReplaceAllString(s.Must(t, "task", "export"), "")
				wantHandlers := readFile(t, handlers)
				if id := unwritable[sample.file]; id != "" {
					wantHandlers = regexp.MustCompile(`  `+id+`:\n(?:    .*\n)+`).ReplaceAllString(wantHandlers, "")
				}
				if sample.kind == "timer" { // in systemd each timer has a service; handlers cannot be shared
					want = strings.Replace(want, "reports-2:\n    task: reports", "reports-2:\n    task: reports-2", 1)
					reports := "    command: [/usr/local/bin/report, --of=reports, --price=5$]\n"
					wantHandlers = strings.Replace(wantHandlers, reports+"    concurrency: 1\n", reports+"  reports-2:\n"+reports, 1)
				}
				flags := []string{"export", sample.kind, "--config", handlers, "--dir", filepath.Join(dir, "out")}
				if sample.kind == "cronjob" {
					flags = append(flags, "--image", "jobs:1")
				}
				if sample.kind == "crontab" {
					flags = append(flags, zone...)
				}
				out := s.Run(t.Context(), flags...)
				if out.Exit != ui.Done {
					t.Fatalf("export ends with %d:\n%s", out.Exit, out.Stderr)
				}
				if sample.kind == "pgcron" { // its calls are for pg_cron, and no file to import
					wantGolden(t, "pgcron.export", readFile(t, filepath.Join(dir, "out", "pgcron.sql")))
					return
				}
				var ids []string
				for _, line := range strings.Split(want, "\n") {
					if strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   ") {
						ids = append(ids, strings.Trim(line, " :"))
					}
				}
				for _, id := range ids {
					s.Must(t, "task", "rm", id)
				}
				again := filepath.Join(dir, "again.yaml")
				source := filepath.Join(dir, "out")
				if entries, err := os.ReadDir(source); err == nil && len(entries) == 1 {
					source = filepath.Join(source, entries[0].Name())
				}
				report := s.Must(t, append([]string{"import", sample.kind, source, "--handlers", again}, zone...)...)
				if got := ignored.ReplaceAllString(s.Must(t, "task", "export"), ""); got != want {
					t.Errorf("got\n%s\nwant\n%s\n%s%s", got, want, out.Stderr, report)
				}
				if got := readFile(t, again); got != wantHandlers {
					t.Errorf("the handlers are\n%s\nwant\n%s", got, wantHandlers)
				}
			})
		})
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
