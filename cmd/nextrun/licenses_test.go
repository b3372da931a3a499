package main_test

import (
	"os/exec"
	"testing"
)

// The licences that packages and images bring along are those of what is linked.
func TestLicencesAreThoseOfWhatIsLinked(t *testing.T) {
	t.Parallel()
	command := exec.Command("scripts/licenses")
	command.Dir = "../.."
	text, err := command.Output()
	if err != nil {
		t.Fatalf("scripts/licenses: %v", err)
	}
	if string(text) != readFile(t, "../../dist/licenses.txt") {
		t.Error("dist/licenses.txt is not what is linked now; run: make licenses")
	}
}
