package calendar

import (
	"maps"
	"slices"
	"strings"
)

// notWeekday is the error for letters that are no weekday.
func (s *eventParser) notWeekday() error {
	word := s.wordAt(s.pos)
	switch {
	case word == "":
		return s.fail("expected a weekday such as Mon or Monday, found %s", s.found())
	case shorthands[strings.ToLower(word)] != "" && s.pos == 0:
		return s.failAt(len(word), "%s stands alone; %s", word, timeOfDay)
	}
	what, candidates := "a weekday", make([]string, 0, 32)
	for _, name := range weekdayNames {
		candidates = append(candidates, name[:3])
	}
	candidates = append(candidates, weekdayNames[:]...)
	if s.pos == 0 {
		what = "a weekday or a name such as daily"
		candidates = append(append(candidates, "every", Never), slices.Sorted(maps.Keys(shorthands))...)
	}
	return s.failNear(s.pos, word, candidates, "%q is not %s", word, what)
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
