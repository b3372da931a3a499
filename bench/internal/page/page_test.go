package page_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/bench/internal/page"
)

// What is between the marks is replaced, again and again, and nothing else.
func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	const around = "# Title\n\n<!-- a: begin -->\n%s<!-- a: end -->\n\n<!-- b: begin -->\nb\n<!-- b: end -->\n"
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(around, "%s", "old\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first\n", "second\n"} {
		if err := page.Replace(path, "a", text); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if want := strings.ReplaceAll(around, "%s", "\n"+text); err != nil || string(got) != want {
			t.Errorf("the page is\n%s\nwant\n%s", got, want)
		}
	}
	if err := page.Replace(path, "c", ""); err == nil || !strings.Contains(err.Error(), "<!-- c: begin -->") {
		t.Errorf("without the marks: %v", err)
	}
}
