// Package web is what HTTP calls have in common: those that run jobs and those
// that publish events.
package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestWait is the longest time that RetryAfter returns. Callers have lower
// limits of their own.
const longestWait = 365 * 24 * time.Hour

// RetryAfter reads a Retry-After header: seconds or a date (RFC 9110, 10.2.3). It
// returns 0 if the header is neither.
func RetryAfter(header string, now time.Time) time.Duration {
	if header != "" && strings.Trim(header, "0123456789") == "" {
		seconds, err := strconv.ParseInt(header, 10, 64)
		if err != nil || seconds > int64(longestWait/time.Second) {
			return longestWait
		}
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// ValidHeader reports whether a text can be the value of a header: it has no
// control character but the tab (RFC 9110, 5.5).
func ValidHeader(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
