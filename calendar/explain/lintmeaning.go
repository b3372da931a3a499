package explain

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// lintEither looks for cron expressions with a day of the month and a weekday. Many people expect
// that both must match, as in calendar events.
func lintEither(s *elapse.Set) []Finding {
	d, ok := s.Rule.Days.(*elapse.CronDays)
	if !ok || d.Both || d.AnyDay || d.AnyWeekday || d.Days == elapse.AllMonthdays || d.Weekdays == elapse.AllWeekdays {
		return nil
	}
	return []Finding{{Code: LintEither,
		Message: "elapses " + explainDates(s.Rule) + "; a day that is one of the two is enough"}}
}

var fourDigits = regexp.MustCompile(`[0-9]{4}`)

// lintYear looks for six fields whose last one is a year elsewhere: their weekday, which is our month, may be a question mark.
func lintYear(timer string) []Finding {
	fields := strings.Fields(timer)
	if strings.Contains(fields[0], "=") { // the zone
		fields = fields[1:]
	}
	if len(fields) != 6 || fields[4] != "?" || fourDigits.MatchString(fields[5]) {
		return nil
	}
	return []Finding{{Code: LintYear, Message: fmt.Sprintf(
		"its six fields begin with seconds; if the last one was meant as a year, leave it out: %q", strings.Join(fields[:5], " "))}}
}

// lintUneven looks for a step that starts again before it is complete, as every 7 minutes does at
// the full hour.
func lintUneven(c *elapse.Clock) (list []Finding) {
	for _, field := range []struct {
		unit string
		set  uint64
		size int
	}{{"hour", uint64(c.Hours), 24}, {"minute", c.Minutes, 60}, {"second", c.Seconds, 60}} {
		if field.unit == "second" && c.Parts != nil {
			break
		}
		values := elapse.Members(field.set)
		step := stepOf(values)
		if step < 2 || len(values) < 4 {
			continue // a list of a few values says what it means
		}
		first, last := values[0], values[len(values)-1]
		rest := field.size - last + first
		if first >= step || last+step < field.size || rest == step {
			continue // a part of the field, or a step that divides it
		}
		list = append(list, Finding{Code: LintUneven, Message: fmt.Sprintf(
			"elapses every %d %ss, but from %s %d to %s %d there are %d %s%s",
			step, field.unit, field.unit, last, field.unit, first, rest, field.unit, plural(rest))})
	}
	return list
}
