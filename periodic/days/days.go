// Package days says on which days tasks do not run: calendars, such as public holidays, and single ticks that people
// leave out.
package days

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Row is a row of the table periodic_calendar: a day, or several in a row. All rows of one name are a calendar.
type Row struct {
	Name string
	// First and Last are days: midnight in UTC stands for the day in the zone of the timer that is asked about.
	// Zero Last: only First.
	First, Last time.Time
	Reason      string // why, for people
}

// Calendars are rows by the name of their calendar. nil has none.
type Calendars map[string][]Row

// NewCalendars returns the calendars of rows.
func NewCalendars(rows []Row) Calendars {
	c := Calendars{}
	for _, r := range rows {
		c[r.Name] = append(c[r.Name], r)
	}
	return c
}

// Names splits the text of exclude_calendars.
func Names(list string) []string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// At returns the first row of the named calendars that has the day of a time, or nil. The time is in the zone that counts.
func (c Calendars) At(names string, local time.Time) *Row {
	if names == "" {
		return nil
	}
	year, month, day := local.Date()
	today := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	for _, name := range Names(names) {
		i := slices.IndexFunc(c[name], func(r Row) bool {
			return today.Equal(r.First) || today.After(r.First) && !today.After(r.Last)
		})
		if i >= 0 {
			return &c[name][i]
		}
	}
	return nil
}

// Check returns an error if one of the named calendars has no rows.
func (c Calendars) Check(names string) error {
	for _, name := range Names(names) {
		if len(c[name]) == 0 {
			return fmt.Errorf("exclude_calendars names the calendar %q, which does not exist; add its days to periodic_calendar, or correct the name", name)
		}
	}
	return nil
}

// Validate returns an error if the table would refuse the row.
func (r Row) Validate() error {
	var problem string
	switch {
	case !validName(r.Name):
		problem = "the name has 1 to 64 letters, digits, '.', '-' and '_', and begins with a letter or digit"
	case utf8.RuneCountInString(r.Reason) > 254 || !utf8.ValidString(r.Reason) || strings.ContainsRune(r.Reason, 0):
		problem = "the reason has at most 254 characters of UTF-8, without NUL"
	case r.First.IsZero():
		problem = "name a day"
	case !r.Last.IsZero() && r.Last.Before(r.First):
		problem = fmt.Sprintf("the last day, %s, is before the first, %s", r.Last.Format(time.DateOnly), r.First.Format(time.DateOnly))
	default:
		return nil
	}
	return fmt.Errorf("calendar %q: %s", r.Name, problem)
}

func validName(name string) bool {
	for i, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || i > 0 && strings.IndexByte("._-", c) >= 0) {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// When says which days a row has, as [ParseWhen] reads it: "2026-12-24", or "2026-12-24 to 2026-12-26".
func (r Row) When() string {
	if r.Last.IsZero() || r.Last.Equal(r.First) {
		return r.First.Format(time.DateOnly)
	}
	return r.First.Format(time.DateOnly) + " to " + r.Last.Format(time.DateOnly)
}

// ParseWhen reads a day, or two days with "to" between them. It returns a row without a name.
func ParseWhen(text string) (r Row, err error) {
	first, last, several := strings.Cut(text, " to ")
	if r.First, err = time.Parse(time.DateOnly, strings.TrimSpace(first)); err == nil && several {
		r.Last, err = time.Parse(time.DateOnly, strings.TrimSpace(last))
	}
	if err != nil {
		return r, fmt.Errorf("%q is no day of a calendar; use a day such as 2026-12-24, or days such as 2026-12-24 to 2026-12-26", text)
	}
	return r, nil
}

// Compare orders rows by name, then by day.
func (r Row) Compare(other Row) int {
	return cmp.Or(cmp.Compare(r.Name, other.Name), r.First.Compare(other.First))
}

// same reports whether two rows say the same.
func (r Row) same(other Row) bool {
	return r.Name == other.Name && r.When() == other.When() && r.Reason == other.Reason
}

// Changes returns the rows to write so that all wanted ones are there, and those that are not wanted. Their key is the
// name and the first day.
func Changes(have, want []Row) (write, remove []Row) {
	for _, w := range want {
		if !slices.ContainsFunc(have, w.same) && !slices.ContainsFunc(write, w.same) {
			write = append(write, w)
		}
	}
	for _, h := range have {
		if !slices.ContainsFunc(want, func(w Row) bool { return w.Compare(h) == 0 }) {
			remove = append(remove, h)
		}
	}
	return write, remove
}

// Text says what a row is: "calendar de-BY: Heiligabend".
func (r Row) Text() string {
	text := "calendar " + r.Name
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// LeftOut is a tick to come that somebody leaves out: a row of periodic_tick that is written ahead, and not
// decided yet.
type LeftOut struct {
	Due    time.Time `json:"due"`
	Reason string    `json:"reason"` // who leaves it out, and why: see [Note]
}

// Note says who did something, and why. Both may be empty.
func Note(who, why string) string {
	if who != "" && why != "" {
		return who + ": " + why
	}
	return who + why
}
