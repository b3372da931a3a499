package text

import (
	"fmt"
	"time"
)

// Text writes a duration by its two greatest units, rounded up to the second.
func Text(d time.Duration) string {
	seconds := int64((d + time.Second - 1) / time.Second)
	units := []struct {
		size int64
		name string
	}{{365 * 86400, "y"}, {86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}
	for i, u := range units {
		if seconds < u.size {
			continue
		}
		text := fmt.Sprintf("%d %s", seconds/u.size, u.name)
		if i+1 < len(units) {
			if rest := seconds % u.size / units[i+1].size; rest > 0 {
				text += fmt.Sprintf(" %d %s", rest, units[i+1].name)
			}
		}
		return text
	}
	return "0 s"
}

// Exact is [Text] to the nearest second, with milliseconds or hundredths of a second where
// they matter.
func Exact(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(d, 0).Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return Text(d.Round(time.Second))
}

// Away writes how far a time is away from now: "in 3 h 12 min", "5 s ago". What has not
// passed yet is rounded up to the second, what has passed down.
func Away(t, now time.Time) string {
	switch d := t.Sub(now); {
	case d > 0:
		return "in " + Text(d)
	case d > -time.Second:
		return "now"
	default:
		return Text((-d).Truncate(time.Second)) + " ago"
	}
}
