package periodic

import (
	"fmt"
	"testing"
	"time"
)

func TestJitter(t *testing.T) {
	noon := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	delay := func(id, timer string, ends time.Time, greatest time.Duration) time.Duration {
		task := &Task{ID: id, Timer: timer, Ends: ends, Jitter: greatest}
		line, err := task.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		first := line.(timeline).Delay(noon)
		if again := line.(timeline).Delay(noon.Add(24 * time.Hour)); again != first && ends.IsZero() {
			t.Fatalf("the delay of %s is %s, and %s a day later", id, first, again)
		}
		return first
	}
	var sum time.Duration
	seen := map[time.Duration]bool{}
	const n = 2000
	for i := range n {
		id := fmt.Sprintf("task-%d", i)
		d := delay(id, "12:00", time.Time{}, time.Hour)
		if d < 0 || d >= time.Hour {
			t.Fatalf("the delay of %s is %s, not within an hour", id, d)
		}
		if capped := delay(id, "*:*", time.Time{}, time.Hour); capped != d%time.Minute {
			t.Fatalf("the delay of %s is %s; each minute it is %s", id, d, capped)
		}
		if last := delay(id, "12:00", noon.Add(time.Second), time.Hour); last != d {
			t.Fatalf("the delay of %s is %s; of a last tick %s", id, d, last)
		}
		sum += d
		seen[d/(6*time.Minute)] = true
	}
	if mean := sum / n; mean < 27*time.Minute || mean > 33*time.Minute || len(seen) != 10 {
		t.Errorf("the delays are not spread: mean %s, %d of 10 parts hit", mean, len(seen))
	}
	if delay("task", "12:00", time.Time{}, 0) != 0 {
		t.Error("a delay without a jitter")
	}
}
