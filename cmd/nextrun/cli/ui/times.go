package ui

import (
	"fmt"
	"strconv"
	"time"
)

// Moment writes a time for people: in their zone, to the second.
func (env *Env) Moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(env.Zone).Format("2006-01-02 15:04:05 MST")
}

// Ago writes how far a time is away: "in 3 h 12 min", "5 s ago". What has not passed
// yet is rounded up to the second, what has passed down.
func (env *Env) Ago(t time.Time) string {
	switch d := t.Sub(env.Now()); {
	case t.IsZero():
		return ""
	case d > 0:
		return "in " + Span(d)
	case d > -time.Second:
		return "now"
	default:
		return Span((-d).Truncate(time.Second)) + " ago"
	}
}

// Span writes a duration by its two greatest units, rounded up to the second.
func Span(d time.Duration) string {
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

// ExactSpan is [Span] to the nearest second, with the fraction of a second where that
// matters.
func ExactSpan(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(d, 0).Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return Span(d.Round(time.Second))
}

// TimeOrNull is a time as JSON has it: null for the zero time.
func TimeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Seconds writes a duration in whole seconds.
func Seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) + " s" }
