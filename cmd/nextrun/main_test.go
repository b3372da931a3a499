package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/program"
)

func TestMain(m *testing.M) { program.Main(m) }

// build returns nextrun as users have it.
func build(t *testing.T) string {
	t.Helper()
	return program.Build(t, ".", ".")
}

// startProcess starts nextrun on a database.
func startProcess(t *testing.T, url string, args ...string) *program.Process {
	t.Helper()
	command := exec.Command(build(t), args...)
	command.Env = append(os.Environ(), "NEXTRUN_DB="+url, "NEXTRUN_NAME=test")
	return program.Start(t, command)
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
