package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// timeForms are the accepted forms of a time. A time without a zone is in UTC.
var timeForms = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999Z07:00", "2006-01-02 15:04Z07:00",
	"2006-01-02T15:04:05.999999", "2006-01-02T15:04",
	"2006-01-02 15:04:05.999999", "2006-01-02 15:04", time.DateOnly,
}

// ParseTime reads a time from a flag or a file. Its error says what to use instead,
// as the end of a sentence such as "--from must be".
func ParseTime(text string) (time.Time, error) {
	for _, form := range timeForms {
		t, err := time.Parse(form, text)
		if err == nil && t.Year() >= 1970 {
			return t.UTC().Truncate(time.Microsecond), nil
		}
	}
	return time.Time{}, errors.New("a time from 1970 on such as 2026-03-01T12:30:00+02:00 or '2026-03-01 12:30' (UTC)")
}

// ParseCount reads a number from 0 on from a flag or a file. Its error says what to use
// instead, as that of [ParseTime].
func ParseCount(text string) (int, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
	if err != nil {
		return 0, errors.New("a whole number from 0 on")
	}
	return int(n), nil
}

// ParseSeconds reads whole seconds from a flag or a file: 90, 90s, 1h30m. Its
// error says what to use instead, as that of [ParseTime].
func ParseSeconds(text string) (time.Duration, error) {
	if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32); err == nil && n >= 0 {
		return time.Duration(n) * time.Second, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d%time.Second != 0 || d/time.Second > math.MaxInt32 {
		return 0, errors.New("whole seconds from 0 on such as 90, 90s or 1h30m")
	}
	return d, nil
}
