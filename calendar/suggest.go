package calendar

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// didYouMean is the end of a message, or nothing when there is no suggestion.
func didYouMean(suggestion string) string {
	if suggestion == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", suggestion)
}

// nearest returns the candidate that a word was probably meant to be, or "". Case does not count.
func nearest(word string, candidates ...string) string {
	word = strings.ToLower(word)
	if len(word) < 2 || len(word) > 20 {
		return ""
	}
	best, least := "", 2
	if len(word) > 4 {
		least = 3
	}
	for _, c := range candidates {
		lower := strings.ToLower(c)
		if strings.HasPrefix(lower, word) || strings.HasPrefix(word, lower) && len(lower) > 2 {
			return c
		}
		if d := edits(word, lower); d < least {
			best, least = c, d
		}
	}
	return best
}

// edits counts the letters to insert, remove, replace or swap with their neighbour that turn one word into the other
// (the optimal string alignment distance).
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// notWeekday is the error for letters that are no weekday.
func (s *scanner) notWeekday() error {
	word := s.wordAt(s.pos)
	lower := strings.ToLower(word)
	switch {
	case word == "":
		return s.fail("expected a weekday such as Mon or Monday, found %s", s.found())
	case lower == "midnight" || lower == "noon":
		return s.fail("%q is not a name for a timer%s", word, didYouMean(map[string]string{
			"midnight": "daily", "noon": "*-*-* 12:00"}[lower]))
	case shorthands[lower] != "" && s.pos == 0:
		return s.afterShorthand(word)
	}
	var candidates []string
	for _, name := range weekdayNames {
		candidates = append(candidates, name[:3])
	}
	candidates = append(candidates, weekdayNames[:]...)
	if s.pos == 0 {
		candidates = append(candidates, "every")
		candidates = append(candidates, slices.Sorted(maps.Keys(shorthands))...)
	}
	return s.fail("%q is not a weekday%s%s", word, alternative(s.pos), didYouMean(nearest(word, candidates...)))
}

// afterShorthand is the error for what follows a shorthand, which has a time already.
func (s *scanner) afterShorthand(name string) error {
	meant, short := name, shorthands[strings.ToLower(name)]
	if rest := strings.TrimSpace(s.timer[len(name):s.end]); rest != "" {
		meant = short[:strings.LastIndex(short, " ")+1] + rest
	}
	inner := &scanner{timer: meant, end: len(meant)}
	if inner.event(&eventSpec{}) != nil {
		meant = ""
	}
	return s.failAt(len(name), "%s stands alone%s", name, didYouMean(meant))
}

func alternative(at int) string {
	if at > 0 {
		return ""
	}
	return " or a name such as daily"
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
func (s *scanner) neitherDateNorTime(start int) error {
	if s.done() && s.pos-start <= 2 && isDigit(s.timer[start]) {
		return s.fail("expected `-` in a date or `:` in a time%s", didYouMean(s.timer[:s.end]+":00"))
	}
	return s.fail("expected `-` or `~` in a date or `:` in a time, found %s", s.found())
}

// elsewhere improves the error of a calendar event that was meant to be something else.
func elsewhere(timer string, err error) error {
	words := splitWords(timer)
	switch {
	case len(words) == 4 && cronLike(words):
		return &ParseError{timer, len(timer), fmt.Sprintf("a cron expression has 5 to 7 fields, this one has 4%s",
			didYouMean(strings.Join(strings.Fields(timer), " ")+" *"))}
	case len(words) > 0 && len(words) < 4 && isDigit(words[0].text[0]):
		if every := "every " + strings.TrimSpace(timer); isInterval(every) {
			return &ParseError{timer, words[0].at, "an interval starts with the word every" + didYouMean(every)}
		}
	}
	return err
}

func isInterval(timer string) bool {
	_, err := parseInterval(timer, time.Time{})
	return err == nil
}

// cronLike reports whether every word could be a field of a cron expression, and of nothing else.
func cronLike(words []word) bool {
	for _, w := range words {
		if strings.Trim(w.text, "0123456789*,/-?#LW") != "" || strings.Contains(w.text, "*-") {
			return false
		}
	}
	return true
}

// commonZones are zones for abbreviations that people write, though they name an offset and not a zone.
var commonZones = map[string]string{
	"BST": "Europe/London", "CEST": "Europe/Berlin", "EEST": "Europe/Athens", "MESZ": "Europe/Berlin",
	"MEZ": "Europe/Berlin", "WEST": "Europe/Lisbon", "EDT": "America/New_York", "CST": "America/Chicago",
	"CDT": "America/Chicago", "MDT": "America/Denver", "PST": "America/Los_Angeles", "PDT": "America/Los_Angeles",
	"JST": "Asia/Tokyo", "IST": "Asia/Kolkata", "AEST": "Australia/Sydney", "AEDT": "Australia/Sydney", "Z": "UTC",
}

// suggestZone is the end of a message about an unknown zone: the same name in the usual case, a zone of that
// abbreviation, or a name that is not a zone at all.
func suggestZone(name string) string {
	if zone, ok := commonZones[strings.ToUpper(name)]; ok {
		return didYouMean(zone)
	}
	if usual := usualCase(name); usual != name {
		if _, err := zoneNamed(usual); err == nil {
			return didYouMean(usual)
		}
	}
	if short := nearest(name, slices.Sorted(maps.Keys(shorthands))...); short != "" && len(name) > 3 {
		return "; a name such as " + short + " stands alone"
	}
	return ", which are those of the zone database, such as Europe/Berlin"
}

// usualCase writes each part of a name with a capital, but for small words: America/Port_of_Spain.
func usualCase(name string) string {
	b := []byte(strings.ToLower(name))
	for i := range b {
		if i == 0 || strings.IndexByte("/_-", b[i-1]) >= 0 {
			word, _, _ := strings.Cut(string(b[i:]), "_")
			if word != "of" && word != "es" && word != "au" && isLetter(b[i]) {
				b[i] -= 'a' - 'A'
			}
		}
	}
	return string(b)
}
