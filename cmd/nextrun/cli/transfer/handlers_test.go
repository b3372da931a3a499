package transfer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// Imports may share a file of handlers: each adds its own, changes them when they change,
// removes those of the tasks that it deletes, and leaves the others alone.
func TestImportsShareAFileOfHandlers(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		first, second := clitest.WriteFile(t, "shop.cron", "1 2 * * * bill\n3 4 * * * ship\n"), clitest.WriteFile(t, "wiki.cron", "5 * * * * index\n")
		handlers := filepath.Join(t.TempDir(), "handlers.yaml")
		run := func(file string, more ...string) string {
			return s.Must(t, append([]string{"import", "crontab", file, "--zone", "UTC", "--handlers", handlers}, more...)...)
		}
		want := func(out, says string, commands ...string) {
			t.Helper()
			text := readFile(t, handlers)
			if n := strings.Count(text, "command:"); n != len(commands) {
				t.Errorf("%d handlers, want %d:\n%s", n, len(commands), text)
			}
			for _, command := range commands {
				if !strings.Contains(text, "-c, "+command+"]") {
					t.Errorf("no handler runs %s:\n%s", command, text)
				}
			}
			if !strings.Contains(out, says) {
				t.Errorf("%q is not in\n%s", says, out)
			}
			s.Must(t, "check", "--config", handlers)
		}
		run(first)
		want(run(second), "3 handlers; added: index", "bill", "ship", "index")
		want(run(second), "3 handlers; nothing changed", "bill", "ship", "index")
		if err := os.WriteFile(first, []byte("1 2 * * * bill --all\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		want(run(first), "3 handlers; changed: bill", "bill --all", "ship", "index")
		want(run(first, "--prune", "delete"), "2 handlers; removed: ship", "bill --all", "index")

		if err := os.WriteFile(handlers, []byte("# written by nextrun import; a change by hand is lost when it runs again\nhandlers: [\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.Fails(t, ui.Failed, []string{"import", "crontab", first, "--zone", "UTC", "--handlers", handlers}, "the handlers of earlier imports")
	})
}
