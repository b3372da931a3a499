// Package when reads times and durations as people write them, on the command line and on pages.
package when

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Clock is what the times that people write are relative to.
type Clock struct {
	Now  time.Time
	Zone *time.Location // of times without one
	Past bool           // a bare span, as in --since 2h, counts back; a weekday is the last one
}

// Parse reads a time as people write it: 2h, 3 days ago, in 90min, now, today,
// yesterday 14:00, monday, 14:30, 2026-03-28, 2026-03-28 14:30 or 2026-03-28T14:30:00Z. It is in UTC.
func Parse(text string, clock Clock) (time.Time, error) {
	lower := strings.ToLower(strings.TrimSpace(text))
	for _, read := range []func(string) (time.Time, bool){clock.absolute, clock.relative, clock.named} {
		if t, ok := read(lower); ok {
			return t.UTC().Truncate(time.Microsecond), nil
		}
	}
	return time.Time{}, errors.New("use " + clock.forms())
}

// forms are the ways to write a time.
func (c Clock) forms() string {
	spans := "a time from now such as 2h or 3d, "
	if c.Past {
		spans = "an age such as 2h or 3d, "
	}
	return spans + "a date such as 2026-03-28, a time such as 14:30, 2026-03-28 14:30 or 2026-03-28T14:30:00Z, " +
		"a weekday, or today, yesterday or tomorrow, also with a time of day"
}

// absolute reads dates with or without a time of day, and times of today.
func (c Clock) absolute(text string) (time.Time, bool) {
	date := strings.Replace(strings.ToUpper(text), " ", "T", 1)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, date, c.Zone); err == nil {
			return t, true
		}
	}
	return c.timeOfDay(c.Now.In(c.Zone), text)
}

// timeOfDay reads a time of day, of the day that a time is in.
func (c Clock) timeOfDay(day time.Time, text string) (time.Time, bool) {
	for _, layout := range []string{"15:04", time.TimeOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return time.Date(day.Year(), day.Month(), day.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), c.Zone), true
		}
	}
	return time.Time{}, false
}

// relative reads now, and spans from now.
func (c Clock) relative(text string) (time.Time, bool) {
	if text == "now" {
		return c.Now, true
	}
	back := c.Past
	if rest, ok := strings.CutPrefix(text, "in "); ok {
		text, back = rest, false
	} else if rest, ok := strings.CutSuffix(text, " ago"); ok {
		text, back = rest, true
	}
	span, err := Span(text)
	if back {
		span = -span
	}
	return c.Now.Add(span), err == nil
}

// named reads a day by its name, with or without a time of day.
func (c Clock) named(text string) (time.Time, bool) {
	name, at, _ := strings.Cut(text, " ")
	today := c.Now.In(c.Zone)
	first, last := 1, 7 // days from today among which a weekday is
	if c.Past {
		first, last = -6, 0
	}
	days, known := map[string]int{"yesterday": -1, "today": 0, "tomorrow": 1}[name]
	for away := first; away <= last && !known; away++ {
		weekday := strings.ToLower(today.AddDate(0, 0, away).Weekday().String())
		if name == weekday || name == weekday[:3] {
			days, known = away, true
		}
	}
	day := time.Date(today.Year(), today.Month(), today.Day()+days, 0, 0, 0, 0, c.Zone)
	if at == "" || !known {
		return day, known
	}
	return c.timeOfDay(day, strings.TrimSpace(at))
}

// spanUnits are the units of [Span].
var spanUnits = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "sec": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour, "weeks": 7 * 24 * time.Hour,
}

// spanPart is a number and its unit.
var spanPart = regexp.MustCompile(`^(\d+(?:\.\d+)?) *([a-z]+) *`)

// longestSpan is the greatest span that [Span] reads, a hundred years.
const longestSpan = 100 * 366 * 24 * time.Hour

// Span reads a duration as people write it: 90s, 2h, 3 d, 1h30m, 2 weeks.
func Span(text string) (time.Duration, error) {
	rest := strings.ToLower(strings.TrimSpace(text))
	if rest == "0" {
		return 0, nil
	}
	total := 0.0
	for first := true; first || rest != ""; first = false {
		part := spanPart.FindStringSubmatch(rest)
		if len(part) == 0 || spanUnits[part[2]] == 0 {
			return 0, fmt.Errorf("%q is no duration such as 90s, 2h, 3d or 1h30m", text)
		}
		number, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0, err
		}
		if total += number * float64(spanUnits[part[2]]); total > float64(longestSpan) {
			return 0, fmt.Errorf("%q is more than a hundred years", text)
		}
		rest = rest[len(part[0]):]
	}
	return time.Duration(total), nil
}
