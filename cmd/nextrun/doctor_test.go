package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// doctor runs scripts/doctor where the PATH has nothing but these programs, which are
// scripts with these bodies.
func doctor(t *testing.T, programs map[string]string) (output string, code int) {
	t.Helper()
	bin := t.TempDir()
	for name, body := range programs {
		path := filepath.Join(bin, name)
		write(t, path, "#!/bin/sh\n"+body+"\n")
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), bash, "../../scripts/doctor")
	command.Env = []string{"PATH=" + bin}
	out, err := command.CombinedOutput()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), command.ProcessState.ExitCode()
}

func TestDoctorOnAnEmptyMachine(t *testing.T) {
	t.Parallel()
	output, code := doctor(t, nil)
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"MISSING  go ", "MISSING  cc ", "MISSING  make ", "MISSING  postgres ", "MISSING  psql ", "MISSING  sqlite3 ", "MISSING  ps ",
		"without  node ", "only make test-queues needs it", "without  promtool", "without  shellcheck",
		"without  chromium", "without  docker", "only make test-browser needs it", "without  mmdebstrap", "only make test-containers needs it", "by your package manager: go cc make git postgres"} {
		if !strings.Contains(output, want) {
			t.Errorf("%q is missing in\n%s", want, output)
		}
	}
	if strings.Contains(output, "not found") {
		t.Errorf("it needs programs that are not there:\n%s", output)
	}
}

func TestDoctorIsContent(t *testing.T) {
	t.Parallel()
	output, code := doctor(t, map[string]string{"go": "echo go1.26.0", "gcc": "", "make": "", "git": "", "psql": "", "sqlite3": "", "ps": "", "docker": ""})
	if code != 0 || strings.Contains(output, "MISSING") || !strings.Contains(output, "can run: make test") || !strings.Contains(output, "without  promtool") {
		t.Errorf("exit code %d:\n%s", code, output)
	}
}
