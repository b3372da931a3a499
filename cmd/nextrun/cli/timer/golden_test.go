package timer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// A file holds when a timer elapses, and tells when a change of the timer changes that.
func TestNextGolden(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{}
	file := filepath.Join(t.TempDir(), "berlin.times")
	next := func(timer string, more ...string) []string {
		return append([]string{"next", timer, "--after", "2026-03-27T12:00Z", "-n", "3", "--golden", file}, more...)
	}
	s.Fails(t, ui.Failed, next("*-*-* 02:30 Europe/Berlin"), "does not exist; give --update-golden")
	s.Must(t, next("*-*-* 02:30 Europe/Berlin", "--update-golden")...)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := "2026-03-29 01:30:00 UTC  Sun 2026-03-29 03:30:00 CEST\n"; !strings.Contains(string(text), want) {
		t.Errorf("the file holds\n%s\nwant %q in it", text, want)
	}
	s.Must(t, next("*-*-* 02:30 Europe/Berlin")...)
	s.Fails(t, ui.Changes, next("*-*-* 02:45 Europe/Berlin"), "the elapses are not those of")
	s.Fails(t, ui.WrongUsage, []string{"next", "daily", "--golden", file}, "--after")
}
