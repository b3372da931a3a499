package main_test

import (
	"os/exec"
	"strings"
	"testing"
)

// Where nothing is installed but bash, doctor names all that is missing, and what for.
func TestDoctorOnAnEmptyMachine(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), bash, "../../scripts/doctor")
	command.Env = []string{"PATH=" + t.TempDir()}
	output, _ := command.CombinedOutput()
	if code := command.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"MISSING  go ", "MISSING  cc ", "MISSING  make ", "MISSING  postgres ", "MISSING  psql ", "MISSING  sqlite3 ", "MISSING  ps ",
		"without  npm ", "make test-queues: ", "without  promtool", "without  shellcheck", "by your package manager: gcc libc6-dev golang-go make git postgres"} {
		if !strings.Contains(string(output), want) {
			t.Errorf("%q is missing in\n%s", want, output)
		}
	}
}
