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

func TestDoctorNamesThePackages(t *testing.T) {
	t.Parallel()
	for manager, want := range map[string]string{
		"apt-get": "apt-get install golang-go gcc libc6-dev make git postgresql postgresql-client sqlite3 procps",
		"dnf":     "dnf install golang gcc make git postgresql-server postgresql sqlite procps-ng",
		"pacman":  "pacman -S go gcc make git postgresql sqlite procps-ng",
		"apk":     "apk add go gcc musl-dev make git postgresql postgresql-client sqlite procps",
		"zypper":  "zypper install go gcc make git postgresql-server postgresql sqlite3 procps",
		"brew":    "brew install go gcc make git postgresql@17 sqlite",
	} {
		if output, code := doctor(t, map[string]string{manager: ""}); code != 1 || !strings.Contains(output, want+"\n") {
			t.Errorf("exit code %d, and no %q in\n%s", code, want, output)
		}
	}
}

func TestDoctorKnowsVersions(t *testing.T) {
	t.Parallel()
	for version, old := range map[string]bool{"go1.26.8": false, "go1.26": false, "go2.0": false, "go1.27rc1": false, "go1.25.9": true, "go1.9": true} {
		output, _ := doctor(t, map[string]string{"go": "echo " + version})
		if strings.Contains(output, "too old") != old || strings.Contains(output, "ok       go ") == old {
			t.Errorf("%s:\n%s", version, output)
		}
	}
}

func TestDoctorIsContent(t *testing.T) {
	t.Parallel()
	output, code := doctor(t, map[string]string{"go": "echo go1.26.0", "gcc": "", "make": "", "git": "", "psql": "", "sqlite3": "", "ps": "", "docker": ""})
	if code != 0 || strings.Contains(output, "MISSING") || !strings.Contains(output, "can run: make test") || !strings.Contains(output, "without  promtool") {
		t.Errorf("exit code %d:\n%s", code, output)
	}
}
