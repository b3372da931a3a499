package calendar

import (
	"cmp"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// MaxLength is the number of bytes that a timer may have.
const MaxLength = 254

// Schedule is a compiled timer: the set of instants at which it elapses. Schedules are immutable
// and safe for concurrent use. All times they return are in UTC.
type Schedule interface {
	// Next returns the earliest elapse strictly after the argument, or the zero time when there is
	// none: an elapse beyond the year 2199 counts as none.
	Next(after time.Time) time.Time
	// Prev returns the latest elapse strictly before the argument, or the zero time when there is
	// none: calendar events and cron expressions have none before the year 1970, intervals none
	// before their anchor.
	Prev(before time.Time) time.Time
	// String returns the normal form. Parsing it gives the same schedule.
	String() string
}

// Parse compiles a timer: a calendar event, a cron expression, an interval or [Never]. An interval without
// `from` is anchored at 1970-01-01T00:00:00Z. The error is a *ParseError.
func Parse(timer string) (Schedule, error) {
	return ParseAt(timer, time.Time{})
}

// ParseAt is Parse with the anchor of intervals that have no `from`; other timers do not depend on
// it. Fractions of a microsecond of the anchor are dropped. The zero time stands for no anchor.
func ParseAt(timer string, anchor time.Time) (Schedule, error) {
	if len(timer) > MaxLength {
		return nil, text{timer: timer}.failAt(MaxLength, "the timer has %d bytes, at most %d are allowed",
			len(timer), MaxLength)
	}
	s, err := parseNotation(cut(timer), anchor)
	if err != nil {
		return nil, cmp.Or(notRule(timer), err)
	}
	return s, nil
}

// Location returns the zone in which a schedule is meant: UTC unless the timer names another one.
func Location(s Schedule) *time.Location {
	switch s := s.(type) {
	case interface{ Elapses() *elapse.Set }:
		return s.Elapses().Zone.Location
	case *elapse.Interval:
		return s.Zone.Location
	}
	return time.UTC
}

// ZoneRules are fingerprints of the rules, from 2020 on, of the zones that timers of this process have named, by their names. In a
// process with other zone data a zone whose rules have changed has another one.
func ZoneRules() map[string]string { return elapse.Rules() }

// notRule is the error for an RRULE of iCalendar (RFC 5545); nil: the timer is none.
func notRule(timer string) error {
	if !strings.Contains(strings.ToUpper(timer), "FREQ=") {
		return nil
	}
	return text{timer: timer}.failAt(0, `an RRULE is not a timer; write a calendar event, such as "Mon *-*-1..7 09:00" for the first Monday of each month, `+
		`or an interval, such as "every 2 weeks from 2026-01-31T09:00:00Z"; the columns starts and ends bound it`)
}

// Never is the timer of a task that has no times: people, programs or hooks run it.
const Never = "never"

// untimed is the schedule of Never.
type untimed struct{}

// Next returns the zero time.
func (untimed) Next(time.Time) time.Time { return time.Time{} }

// Prev returns the zero time.
func (untimed) Prev(time.Time) time.Time { return time.Time{} }

// String returns Never.
func (untimed) String() string { return Never }
