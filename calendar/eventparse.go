package calendar

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// parseEvent reads a calendar event: [weekdays] [date] [time] [zone], or a shorthand such as daily.
func parseEvent(t text) (Schedule, error) {
	s := newEventParser(t)
	e := &event{}
	z, unknown := s.zoneSuffix(&e.spec)
	if err := cmp.Or(s.event(&e.spec), unknown); err != nil { // the first mistake
		return nil, otherNotation(t, err)
	}
	if e.spec.zone == elapse.UTC.Name {
		z = elapse.UTC // where @ said so
	}
	e.Set = elapse.NewSet(e.spec.rule(), e.spec.clock(), z)
	return e, nil
}

// eventParser reads the parts of a calendar event.
type eventParser struct{ *scanner }

func newEventParser(t text) *eventParser { return &eventParser{&scanner{text: t, end: len(t.timer)}} }

// zoneSuffix takes the zone off the end. The last word is a zone when it starts with a letter or a
// sign, and is not the only one.
func (s *eventParser) zoneSuffix(spec *eventSpec) (*elapse.Zone, error) {
	space := strings.LastIndexByte(s.timer, ' ') // other white space separates nothing in an event
	name := s.timer[space+1:]
	offset := elapse.IsOffset(name)
	if space <= 0 || name == "" || !offset && !isLetter(name[0]) {
		return elapse.UTC, nil
	}
	s.end = space
	var z *elapse.Zone
	var err error
	if !offset {
		z, err = s.zoneAt(space+1, name)
	} else if z, err = elapse.ZoneOffset(name); err != nil {
		err = s.failAt(space+1, "%v", err)
	}
	if err != nil {
		return nil, err
	}
	spec.zone = z.Name
	return z, nil
}

// event reads what stands before the zone.
func (s *eventParser) event(spec *eventSpec) error {
	switch {
	case s.done():
		return s.fail("the timer is empty; an example is *-*-* 02:00")
	case s.peek() == ' ':
		return s.fail("a timer does not start with a space")
	}
	if short, ok := shorthands[strings.ToLower(s.rest())]; ok {
		return newEventParser(text{timer: short}).event(spec)
	}
	if err := s.weekdays(spec); err != nil {
		return err
	}
	if s.peek() == '@' {
		return s.epoch(spec)
	}
	if err := s.date(spec); err != nil {
		return err
	}
	return s.time(spec)
}

// shorthands are the names that systemd.time(7) gives to common events.
var shorthands = map[string]string{
	"minutely":      "*-*-* *:*:00",
	"hourly":        "*-*-* *:00:00",
	"daily":         "*-*-* 00:00:00",
	"weekly":        "Mon *-*-* 00:00:00",
	"monthly":       "*-*-01 00:00:00",
	"quarterly":     "*-01,04,07,10-01 00:00:00",
	"semiannually":  "*-01,07-01 00:00:00",
	"semi-annually": "*-01,07-01 00:00:00",
	"biannually":    "*-01,07-01 00:00:00",
	"bi-annually":   "*-01,07-01 00:00:00",
	"yearly":        "*-01-01 00:00:00",
	"annually":      "*-01-01 00:00:00",
	"anually":       "*-01-01 00:00:00", // sic
}

// weekdays reads the list of weekdays in front, if there is one. A comma may end it.
func (s *eventParser) weekdays(spec *eventSpec) error {
	if !isLetter(s.peek()) {
		return nil
	}
	var set uint8
	for {
		days, err := s.weekdayRange()
		if err != nil {
			return err
		}
		set |= days
		comma := s.take(",")
		if s.partDone() {
			break
		}
		if !comma {
			return s.fail("expected a comma, `..` or a space after the weekday, found %s", s.found())
		}
	}
	s.skipSpaces()
	if set != elapse.AllWeekdays {
		spec.weekdays = set
	}
	return nil
}

// weekdayRange reads one weekday, or two with `..` or `-` between them.
func (s *eventParser) weekdayRange() (uint8, error) {
	at := s.pos
	first, err := s.weekday()
	if err != nil {
		return 0, err
	}
	if !s.take("..") && !s.take("-") {
		return 1 << first, nil
	}
	last, err := s.weekday()
	if err != nil {
		return 0, err
	}
	if last < first {
		return 0, s.failAt(at, "the range ends before it starts, as a week runs from Mon to Sun; write two, as in Fri..Sun,Mon")
	}
	return uint8(elapse.BitRange(first, last)), nil
}

// weekday reads a name in any case, in full or its first three letters.
func (s *eventParser) weekday() (int, error) {
	at := s.pos
	for d, name := range weekdayNames {
		if !s.takeFold(name) && !s.takeFold(name[:3]) {
			continue
		}
		if isLetter(s.peek()) {
			break
		}
		return d, nil
	}
	s.pos = at
	return 0, s.notWeekday()
}

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
