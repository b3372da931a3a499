// Package program builds programs and runs them as processes of their own, for tests.
package program

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var (
	mu    sync.Mutex
	dir   string // of all that was built
	built = map[string]string{}
)

// Main is the TestMain of a package whose tests build programs. It removes them.
func Main(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if dir, err = os.MkdirTemp("", "nextrun-programs-"); err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return m.Run()
}

// Build returns the program of a package. It is built for the first test that asks for it, in a directory of its module.
func Build(t testing.TB, from, pkg string) string {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	key := from + " " + pkg
	if built[key] == "" {
		built[key] = compile(t, from, pkg)
	}
	return built[key]
}

// Overlaid returns the program of Go files that are taken for the package tutorial of the working directory.
func Overlaid(t testing.TB, files ...string) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for _, file := range files {
		replace[filepath.Join(here, "tutorial", filepath.Base(file))] = file
	}
	return Replaced(t, "./tutorial", replace)
}

// Replaced returns the program of a package, built with other files: a map from absolute names, also of files that are not
// there, to the files that are taken for them.
func Replaced(t testing.TB, pkg string, files map[string]string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return compile(t, ".", "-overlay", overlay, pkg)
}

func compile(t testing.TB, from string, args ...string) string {
	t.Helper()
	out, err := os.MkdirTemp(dir, "") //nolint:usetesting // it outlives the test
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("go", append([]string{"build", "-buildvcs=false", "-o", out + "/"}, args...)...)
	command.Dir = from
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, said)
	}
	files, err := filepath.Glob(out + "/*")
	if err != nil || len(files) != 1 {
		t.Fatalf("%s made %q, %v", command, files, err)
	}
	return files[0]
}
