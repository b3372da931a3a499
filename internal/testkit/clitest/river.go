package clitest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// MakeRiver makes River's tables in the database, as River itself does.
func (s Shell) MakeRiver(t *testing.T) {
	t.Helper()
	kind := "postgres"
	if strings.HasPrefix(s.Env["NEXTRUN_DB"], "sqlite:") {
		kind = "sqlite"
	}
	for _, level := range []string{"6", "7"} {
		script, err := os.ReadFile(filepath.Join(moduleRoot(t), "store", "queues", "testdata", "river_"+kind+"_"+level+".sql"))
		if err != nil {
			t.Fatal(err)
		}
		s.Exec(t, string(script))
	}
}

// moduleRoot is the directory of go.mod, above the working directory of a test.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
	}
	t.Fatalf("no go.mod above the working directory: %v", err)
	return ""
}
