package sqldb

import (
	"testing"
	"time"
)

// The difference of the clocks is that of the fastest of the newest answers, unless a clock
// was set meanwhile.
func TestSkewKeepsTheExactMeasurement(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		after, took, says, want time.Duration // says: the database's time less that at which it was asked
	}{
		"a slow answer":               {time.Second, 100 * time.Millisecond, 90 * time.Millisecond, 0},
		"a slow answer, much later":   {time.Minute, 100 * time.Millisecond, 90 * time.Millisecond, 40 * time.Millisecond},
		"a faster answer":             {time.Second, time.Millisecond, 700 * time.Microsecond, 200 * time.Microsecond},
		"a slow answer, a clock set":  {time.Second, 100 * time.Millisecond, time.Minute, time.Minute - 50*time.Millisecond},
		"a slow answer, a clock back": {time.Second, 100 * time.Millisecond, -time.Minute, -time.Minute - 50*time.Millisecond},
	} {
		var h health
		h.measure(start, start.Add(2*time.Millisecond), start.Add(time.Millisecond))
		asked := start.Add(test.after)
		h.measure(asked, asked.Add(test.took), asked.Add(test.says))
		if got := h.skew(); got != test.want {
			t.Errorf("%s: the clocks differ by %s, want %s", name, got, test.want)
		}
	}
}
