package column

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Parse reads a value that is neither a text nor a truth from a file or a flag. Its error says what to use instead, as the
// end of a sentence such as "grace must be".
func Parse(kind Kind, text string) (v Value, err error) {
	v.Kind = kind
	switch kind {
	case Number:
		n, wrong := strconv.ParseInt(text, 10, 32)
		if v.Number = int(n); wrong != nil {
			err = errors.New("a whole number; use 0 for low and 10 for high")
		}
	case Count:
		n, wrong := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
		if v.Number = int(n); wrong != nil {
			err = errors.New("a whole number from 0 on")
		}
	case Seconds:
		v.Number, err = parseSeconds(text)
	case Time:
		v.Time, err = parseTime(text)
	}
	return v, err
}

// parseSeconds reads whole seconds: 90, 90s, 1h30m.
func parseSeconds(text string) (int, error) {
	if n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31); err == nil {
		return int(n), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d%time.Second != 0 || d/time.Second > math.MaxInt32 {
		return 0, errors.New("whole seconds from 0 on such as 90, 90s or 1h30m")
	}
	return int(d / time.Second), nil
}

// parseTime reads a time. One without a zone is in UTC.
func parseTime(text string) (time.Time, error) {
	text = strings.Replace(text, " ", "T", 1)
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil && t.Year() >= 1970 {
			return t.UTC().Truncate(time.Microsecond), nil
		}
	}
	return time.Time{}, errors.New("a time from 1970 on such as 2026-03-01T12:30:00+02:00 or '2026-03-01 12:30' (UTC)")
}
