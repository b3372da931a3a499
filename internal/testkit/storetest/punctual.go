package storetest

import (
	"os"
	"slices"
	"testing"
	"time"
)

// PaceVariable names the environment variable that has [Punctual] judge. `make test-pace` sets it
// and runs one test at a time: on a machine that is busy, with other tests for one, times say little.
const PaceVariable = "NEXTRUN_TEST_PACE"

// MaxLateness is how late healthy work may be, in the median, beside rows that fail. It
// tells work that goes on from work that waits for others, which is seconds late. The goal
// is 300 ms, and `make hostile` checks it.
const MaxLateness = 2 * time.Second

// Punctual measures how late work is. With [PaceVariable] it does so until the median is at most
// [MaxLateness], and marks the test as failed if it never is: rows that hold up others make them late
// each time, a machine that is busy with something else does not. Without it, to have been measured
// at all is enough: the work goes on.
func Punctual(t testing.TB, what string, measure func() []time.Duration) {
	t.Helper()
	for over := time.Now().Add(Patience); ; {
		late := measure()
		if len(late) == 0 {
			t.Fatalf("%s: nothing was measured", what)
		}
		slices.Sort(late)
		median, most := late[len(late)/2], late[len(late)-1]
		t.Logf("%s: late by %s in the median, %s at most", what, median, most)
		if median <= MaxLateness || os.Getenv(PaceVariable) == "" {
			return
		}
		if time.Now().After(over) {
			t.Errorf("%s: late by %s in the median, again and again", what, median)
			return
		}
	}
}
