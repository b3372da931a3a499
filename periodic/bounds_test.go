package periodic

import (
	"fmt"
	"testing"
	"time"
)

func TestJitter(t *testing.T) {
	day, noon := 24*time.Hour, time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	var sum time.Duration
	seen := map[time.Duration]bool{}
	const n = 2000
	for i := range n {
		id := fmt.Sprintf("task-%d", i)
		j := jitter(id, noon, noon.Add(day), time.Hour)
		if j < 0 || j > time.Hour {
			t.Fatalf("jitter %s of %s is beyond an hour", j, id)
		}
		if again := jitter(id, noon, noon.Add(day), time.Hour); again != j {
			t.Fatalf("jitter of %s is %s, then %s", id, j, again)
		}
		if capped := jitter(id, noon, noon.Add(time.Minute), time.Hour); capped >= time.Minute {
			t.Fatalf("jitter %s of %s goes past the following tick", capped, id)
		}
		if last := jitter(id, noon, time.Time{}, time.Hour); last > time.Hour {
			t.Fatalf("jitter %s of a last tick", last)
		}
		sum += j
		seen[j/(6*time.Minute)] = true
	}
	if mean := sum / n; mean < 27*time.Minute || mean > 33*time.Minute || len(seen) < 10 {
		t.Errorf("jitter is not spread: mean %s, %d of 10 parts hit", mean, len(seen))
	}
	if jitter("task", noon, noon.Add(day), 0) != 0 {
		t.Error("jitter without a bound")
	}
}
