package calendar

import (
	"maps"
	"slices"
	"strings"
)

// notWeekday is the error for letters that are no weekday.
func (s *eventParser) notWeekday() error {
	word := s.wordAt(s.pos)
	lower := strings.ToLower(word)
	switch {
	case word == "":
		return s.fail("expected a weekday such as Mon or Monday, found %s", s.found())
	case lower == "midnight" || lower == "noon":
		return s.failMeant(s.pos, map[string]string{"midnight": "daily", "noon": "*-*-* 12:00"}[lower], "%q is not a name for a timer", word)
	case shorthands[lower] != "" && s.pos == 0:
		return s.afterShorthand(word)
	}
	what, candidates := "a weekday", make([]string, 0, 32)
	for _, name := range weekdayNames {
		candidates = append(candidates, name[:3])
	}
	candidates = append(candidates, weekdayNames[:]...)
	if s.pos == 0 {
		what = "a weekday or a name such as daily"
		candidates = append(append(candidates, "every"), slices.Sorted(maps.Keys(shorthands))...)
	}
	return s.failNear(s.pos, word, candidates, "%q is not %s", word, what)
}

// afterShorthand is the error for what follows a shorthand, which has a time already.
func (s *eventParser) afterShorthand(name string) error {
	meant, short := name, shorthands[strings.ToLower(name)]
	if rest := strings.TrimSpace(s.timer[len(name):s.end]); rest != "" {
		meant = short[:strings.LastIndex(short, " ")+1] + rest
	}
	if newEventParser(text{timer: meant}).event(&eventSpec{}) != nil {
		return s.failAt(len(name), "%s stands alone; %s", name, timeOfDay)
	}
	return s.failMeant(len(name), meant, "%s stands alone", name)
}

// wrappedWeekdays writes a range that runs over the end of the week as systemd understands it.
func wrappedWeekdays(first, last int) string {
	var set uint8
	for d := first; ; d = (d + 1) % 7 {
		set |= 1 << d
		if d == last {
			return string(appendWeekdays(nil, set))
		}
	}
}

// notNumber is the error for what should be a number.
func (s *scanner) notNumber() error {
	switch s.peek() {
	case 'L', 'l':
		return s.fail("expected a number; the last day of a month is ~1, as in *-*~1")
	case '?':
		return s.fail("expected a number or `*`; `?` is for cron expressions of 5 to 7 fields")
	}
	return s.fail("expected a number or `*`, found %s", s.found())
}

// neitherDateNorTime is the error for a first part that nothing useful follows.
func (s *eventParser) neitherDateNorTime(start int) error {
	if s.done() && s.pos-start <= 2 && isDigit(s.timer[start]) {
		return s.failMeant(s.pos, s.timer[:s.end]+":00", "expected `-` in a date or `:` in a time")
	}
	return s.fail("expected `-` or `~` in a date or `:` in a time, found %s", s.found())
}
