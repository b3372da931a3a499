package nextruntest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// UpdateGolden is the environment variable that lets [Schedule.RequireGolden] write its
// files, if it is not empty.
const UpdateGolden = "NEXTRUN_UPDATE_GOLDEN"

// jobID is a part of a reason that differs from run to run.
var jobID = regexp.MustCompile(` \(job [^)]*\)`)

// RequireGolden compares what became of all ticks with a file, such as
// testdata/december.ticks: one line for each tick, the earliest first. Run the test with
// NEXTRUN_UPDATE_GOLDEN=1 to write the file, and look at the difference before you commit
// it: it is what a change of a timer or a policy changes.
func (s *Schedule) RequireGolden(file string) {
	s.t.Helper()
	var b strings.Builder
	for _, tick := range s.Ticks("") {
		b.WriteString(jobID.ReplaceAllString(line(tick), "") + "\n")
	}
	got := b.String()
	if os.Getenv(UpdateGolden) != "" {
		s.must("make the directory of the golden file", os.MkdirAll(filepath.Dir(file), 0o777)) //nolint:gosec // as git makes them
		s.must("write the golden file", os.WriteFile(file, []byte(got), 0o666))                 //nolint:gosec // committed with the test
		return
	}
	want, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		s.t.Fatalf("nextruntest: %s does not exist; run the test with %s=1 to write it", file, UpdateGolden)
	}
	s.must("read the golden file", err)
	if change := difference(strings.Split(string(want), "\n"), strings.Split(got, "\n")); change != "" {
		s.t.Fatalf("the ticks are not those of %s (- only there, + only now); if that is right, run the test with %s=1\n%s",
			file, UpdateGolden, change)
	}
}

// maxChanges is how many lines of a difference are shown.
const maxChanges = 40

// difference lists the lines that only one of two sorted lists has.
func difference(want, got []string) string {
	inWant, inGot := count(want), count(got)
	var b strings.Builder
	changes := 0
	note := func(sign string, lines []string, other map[string]int) {
		for _, l := range lines {
			if other[l]--; other[l] >= 0 {
				continue
			}
			if changes++; changes <= maxChanges {
				b.WriteString(sign + " " + l + "\n")
			}
		}
	}
	note("-", want, inGot)
	note("+", got, inWant)
	if changes > maxChanges {
		b.WriteString("...\n")
	}
	return b.String()
}

func count(lines []string) map[string]int {
	n := map[string]int{}
	for _, l := range lines {
		n[l]++
	}
	return n
}
