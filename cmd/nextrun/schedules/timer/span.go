package timer

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// units are those of systemd.time(7). A month is 30.44 days, a year 365.25.
var spanUnits = map[string]time.Duration{
	"usec": time.Microsecond, "us": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond,
	"msec": time.Millisecond, "ms": time.Millisecond,
	"": time.Second, "seconds": time.Second, "second": time.Second, "sec": time.Second, "s": time.Second,
	"minutes": time.Minute, "minute": time.Minute, "min": time.Minute, "m": time.Minute,
	"hours": time.Hour, "hour": time.Hour, "hr": time.Hour, "h": time.Hour,
	"days": 24 * time.Hour, "day": 24 * time.Hour, "d": 24 * time.Hour,
	"weeks": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour, "w": 7 * 24 * time.Hour,
	"months": 2629800 * time.Second, "month": 2629800 * time.Second, "M": 2629800 * time.Second,
	"years": 31557600 * time.Second, "year": 31557600 * time.Second, "y": 31557600 * time.Second,
}

// parseSpan reads a time span of systemd, such as 1h 30min or 90.
func parseSpan(text string) (total time.Duration, err error) {
	rest := strings.TrimSpace(text)
	if rest == "" {
		return 0, fmt.Errorf("%q is no time span", text)
	}
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		n, err := strconv.ParseFloat(rest[:digits], 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no time span", text)
		}
		rest = strings.TrimLeft(rest[digits:], " \t")
		end := strings.IndexAny(rest, "0123456789 \t")
		if end < 0 {
			end = len(rest)
		}
		unit, ok := spanUnits[rest[:end]]
		if !ok {
			return 0, fmt.Errorf("%q is no time span: there is no unit %q", text, rest[:end])
		}
		part := n * float64(unit)
		if part+float64(total) > math.MaxInt64/2 {
			return 0, fmt.Errorf("%q is too long a time span", text)
		}
		total += time.Duration(part)
		rest = strings.TrimLeft(rest[end:], " \t")
	}
	return total, nil
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// every is the interval of nextrun for a time span, in its greatest unit.
func every(d time.Duration) string {
	d = max(wholeSeconds(d), time.Second)
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"week", 7 * 24 * time.Hour}, {"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		if d%u.size == 0 {
			n := d / u.size
			if n == 1 {
				return "every 1 " + u.name
			}
			return fmt.Sprintf("every %d %ss", n, u.name)
		}
	}
	return ""
}
