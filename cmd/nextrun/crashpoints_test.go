package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// The program of users has no crash points: neither their code, nor the variable that
// chooses one, nor their names.
func TestProgramHasNoCrashPoints(t *testing.T) {
	t.Parallel()
	binary := build(t)
	symbols, err := exec.Command("go", "tool", "nm", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	// The empty function At may stay, where a call of it is not inlined.
	symbols = bytes.ReplaceAll(symbols, []byte("internal/crashpoint.At\n"), nil)
	if !bytes.Contains(symbols, []byte("main.main")) || bytes.Contains(symbols, []byte("crashpoint")) {
		t.Error("the program has functions or variables of package crashpoint")
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"NEXTRUN_CRASHPOINT", "scheduler/ticks-recorded"} {
		if bytes.Contains(program, []byte(text)) {
			t.Errorf("the program contains %q", text)
		}
	}
}
