package scheduler

import (
	"testing"
	"time"
)

func TestClockIsToldOnce(t *testing.T) {
	var c clock
	for i, step := range []struct {
		took, ahead time.Duration
		tell        bool
	}{
		{0, 0, false},
		{0, time.Second, false},
		{0, 1001 * time.Millisecond, true},
		{0, 5 * time.Second, false},        // told already
		{0, 900 * time.Millisecond, false}, // not together again
		{0, 2 * time.Second, false},
		{0, -400 * time.Millisecond, false},
		{0, -2 * time.Second, true},
		{0, 0, false},
		{3 * time.Second, 2 * time.Second, false}, // the answer may have taken that long
		{time.Second, 2 * time.Second, true},
	} {
		asked := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
		answered := asked.Add(step.took)
		skew, tell := c.compare(asked, answered, asked.Add(step.took/2).Add(step.ahead))
		if tell != step.tell || skew != step.ahead {
			t.Errorf("step %d: %s ahead, tell %t; want %s, %t", i, skew, tell, step.ahead, step.tell)
		}
	}
}
