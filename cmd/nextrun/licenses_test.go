package main_test

import (
	"os/exec"
	"path"
	"strings"
	"testing"
)

// The licences that packages and images bring along are those of what is linked.
func TestLicencesAreThoseOfWhatIsLinked(t *testing.T) {
	t.Parallel()
	command := exec.Command("go", "run", "./scripts/licenses")
	command.Dir = "../.."
	text, err := command.Output()
	if err != nil {
		t.Fatalf("go run ./scripts/licenses: %v", err)
	}
	if string(text) != readFile(t, "../../dist/licenses.txt") {
		t.Error("dist/licenses.txt is not what is linked now; run: make licenses")
	}
}

// The page about libraries has all direct dependencies, and no other ones.
func TestEachLibraryHasItsReason(t *testing.T) {
	t.Parallel()
	page := readFile(t, "../../docs/internals/decisions/libraries.md")
	required := strings.Split(readFile(t, "../../go.mod"), "require (")[1]
	required, _, _ = strings.Cut(required, ")")
	for line := range strings.Lines(required) {
		name, _, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.Contains(line, "// indirect") {
			continue
		}
		short, last := strings.TrimPrefix(strings.TrimSuffix(name, "/v3"), "github.com/"), path.Base(name)
		if !strings.Contains(page, short) && !strings.Contains(page, ".../"+last) && !strings.Contains(page, "/"+path.Base(path.Dir(name))+"/"+last) {
			t.Errorf("libraries.md does not say what %s is for", name)
		}
	}
	for _, table := range strings.Split(page, "|---|")[1:] {
		for line := range strings.Lines(table) {
			for name := range strings.SplitSeq(strings.Split(line+"||", "|")[1], ", ") {
				if name = strings.TrimPrefix(strings.TrimSpace(name), ".../"); strings.HasPrefix(line, "| ") && name != "library" && !strings.Contains(required, name) {
					t.Errorf("libraries.md names %s, which go.mod does not require", name)
				}
			}
		}
	}
}
