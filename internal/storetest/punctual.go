package storetest

import (
	"slices"
	"testing"
	"time"
)

// MaxLateness is how late healthy work may be, in the median, beside rows that fail. It
// tells work that goes on from work that waits for others, which is seconds late. The goal
// is 300 ms, and `make hostile` checks it.
const MaxLateness = 2 * time.Second

// Punctual measures how late work is until the median is at most [MaxLateness], and marks
// the test as failed if it never is. Rows that hold up others make them late each time; a
// machine that is busy with something else does not.
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
		if median <= MaxLateness {
			return
		}
		if time.Now().After(over) {
			t.Errorf("%s: late by %s in the median, again and again", what, median)
			return
		}
	}
}
