package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// The codes of findings. They are stable; the messages are not.
const (
	LintNever       = "never"           // the schedule never elapses again
	LintLeapYears   = "leap-years"      // it elapses in leap years only
	LintShortMonths = "short-months"    // it names days that some of its months lack
	LintEither      = "day-or-weekday"  // a day of the month or a weekday is enough
	LintYear        = "year-as-weekday" // six fields begin with seconds, and were meant to end with a year
	LintUneven      = "uneven"          // a step does not divide its hour, minute or day
	LintMoved       = "dst-moved"       // a change of the clock moves an elapse
	LintAdded       = "dst-added"       // a change of the clock repeats an hour, and elapses in it
	LintMerged      = "dst-merged"      // a change of the clock repeats an hour, and elapses once
)

// Finding is something that the author of a timer may not expect. It is not an error.
type Finding struct {
	Code    string `json:"code"`    // one of the Lint constants
	Message string `json:"message"` // in English
	// At is the first elapse concerned, in UTC. It is zero if the finding has no time.
	At time.Time `json:"at,omitzero"`
}

// Sentence is the message as a sentence: most messages begin with what the timer does.
func (f Finding) Sentence() string {
	if word, _, _ := strings.Cut(f.Message, " "); word == "elapses" || word == "never" {
		return "It " + f.Message + "."
	}
	return strings.ToUpper(f.Message[:1]) + f.Message[1:] + "."
}

// lintYears is how far Lint looks ahead for changes of the clock.
const lintYears = 2

// Lint looks for surprises in a schedule from a given time on: that it never elapses, or in leap
// years or some months only, that its days or steps mean something else than they seem to, and what
// the changes of the clock in the two following years do to it. Findings are in the order of their
// codes above. Schedules that this package has not made are checked for never only.
func Lint(s calendar.Schedule, at time.Time) (list []Finding) {
	if s.Next(at).IsZero() {
		return []Finding{never(s, at)}
	}
	text := s.String()
	switch s := s.(type) {
	case interface{ Elapses() *elapse.Set }:
		set := s.Elapses()
		list = append(append(lintDates(set), lintEither(set)...), lintYear(text)...)
		list = append(list, lintUneven(set.Clock())...)
		list = append(list, lintClock(set.Zone, set, set.Clock().EveryHour(), at)...)
	case *elapse.Interval:
		if s.Unit.Micros == 0 {
			list = lintClock(s.Zone, s, false, at)
		}
	}
	return list
}

func never(s calendar.Schedule, at time.Time) Finding {
	last := s.Prev(at)
	if last.IsZero() {
		return Finding{Code: LintNever, Message: "never elapses"}
	}
	return Finding{Code: LintNever, Message: "never elapses again; the last time was " + last.Format(time.RFC3339)}
}

// lintDates looks for days that exist now and then only.
func lintDates(s *elapse.Set) []Finding {
	if s.LeapYearsOnly() {
		return []Finding{{Code: LintLeapYears, Message: "elapses in leap years only"}}
	}
	short := uint16(0)
	last := s.Rule.Days.LastNamed()
	for _, m := range elapse.Members(uint64(s.Rule.Months)) {
		if last > elapse.MonthLength(m) {
			short |= 1 << m
		}
	}
	if short == 0 {
		return nil
	}
	months := listed(elapse.Members(uint64(short)), func(m int) string { return time.Month(m).String() })
	if last == 29 {
		months += " of most years"
	}
	return []Finding{{Code: LintShortMonths, Message: fmt.Sprintf("day %d does not exist in %s", last, months)}}
}
