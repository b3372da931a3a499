package days

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Row is a row of the table periodic_calendar: some days, or a time that recurs. All rows of one name
// are a calendar.
type Row struct {
	ID   int64
	Name string
	// First and Last are days: midnight in UTC stands for the day in the zone of the timer that is
	// asked about. Zero Last: only First. Both are zero if there is a Timer.
	First, Last time.Time
	Timer       string        // when the time begins; without a zone, in that of the timer that is asked about
	Length      time.Duration // whole seconds from there on
	Reason      string        // why, for people
}

// Validate returns an error if the table would refuse the row, or if its timer cannot be read.
func (r Row) Validate() error {
	var problem string
	switch _, err := inZone(r.Timer, time.UTC); {
	case !validName(r.Name):
		problem = "the name has 1 to 64 letters, digits, '.', '-' and '_', and begins with a letter or digit"
	case utf8.RuneCountInString(r.Reason) > 254 || !utf8.ValidString(r.Reason) || strings.ContainsRune(r.Reason, 0):
		problem = "the reason has at most 254 characters of UTF-8, without NUL"
	case r.Timer == "" && r.First.IsZero():
		problem = "name a day, or a timer and a length"
	case r.Timer == "" && r.Length != 0, r.Timer != "" && !r.First.IsZero():
		problem = "name a day, or a timer and a length, not both"
	case r.Timer == "" && !r.Last.IsZero() && r.Last.Before(r.First):
		problem = fmt.Sprintf("the last day, %s, is before the first, %s", r.Last.Format(time.DateOnly), r.First.Format(time.DateOnly))
	case r.Timer != "" && err != nil:
		return fmt.Errorf("calendar %q: %w", r.Name, err)
	case r.Timer != "" && (r.Length < time.Second || r.Length > 365*24*time.Hour || r.Length%time.Second != 0):
		problem = fmt.Sprintf("the length is %s; use whole seconds from 1 s to 365 days", r.Length)
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

// When says when a row holds, as [ParseWhen] reads it: "2026-12-24", "2026-12-24 to 2026-12-26", or
// "Mon..Fri 08:00 for 10h".
func (r Row) When() string {
	switch {
	case r.Timer != "":
		length := r.Length.String()
		for _, zero := range []string{"0s", "0m"} {
			if short := strings.TrimSuffix(length, zero); strings.HasSuffix(short, "m") || strings.HasSuffix(short, "h") {
				length = short
			}
		}
		return r.Timer + " for " + length
	case r.Last.IsZero() || r.Last.Equal(r.First):
		return r.First.Format(time.DateOnly)
	}
	return r.First.Format(time.DateOnly) + " to " + r.Last.Format(time.DateOnly)
}

// ParseWhen reads when a row holds: a day, two days with "to" between them, or a timer, "for" and how long. It
// returns a row without a name.
func ParseWhen(text string) (r Row, err error) {
	text = strings.TrimSpace(text)
	if timer, length, ok := cutLast(text, " for "); ok {
		r.Timer = strings.TrimSpace(timer)
		if r.Length, err = time.ParseDuration(strings.TrimSpace(length)); err != nil {
			return r, fmt.Errorf("%q is no duration; use one such as 10h or 1h30m", length)
		}
		return r, nil
	}
	first, last, several := strings.Cut(text, " to ")
	if r.First, err = time.Parse(time.DateOnly, strings.TrimSpace(first)); err == nil && several {
		r.Last, err = time.Parse(time.DateOnly, strings.TrimSpace(last))
	}
	if err != nil {
		return r, fmt.Errorf("%q is no time of a calendar; use a day such as 2026-12-24, days such as 2026-12-24 to 2026-12-26, "+
			"or a timer and how long, such as Mon..Fri 08:00 for 10h", text)
	}
	return r, nil
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// Compare orders rows by name, then by day.
func (r Row) Compare(other Row) int {
	return cmp.Or(cmp.Compare(r.Name, other.Name), r.First.Compare(other.First), cmp.Compare(r.Timer, other.Timer), cmp.Compare(r.ID, other.ID))
}

// same reports whether two rows say the same.
func (r Row) same(other Row) bool {
	r.ID, other.ID = 0, 0
	if r.Last.Equal(r.First) {
		r.Last = time.Time{}
	}
	if other.Last.Equal(other.First) {
		other.Last = time.Time{}
	}
	return r == other
}

// Changes returns the rows to add so that all wanted ones are there, and the ids of those that are not
// wanted.
func Changes(have, want []Row) (add []Row, remove []int64) {
	left := slices.Clone(have)
	for _, w := range want {
		i := slices.IndexFunc(left, func(r Row) bool { return r.ID != 0 && r.same(w) })
		switch {
		case i >= 0:
			left[i].ID = 0
		case !slices.ContainsFunc(have, w.same) && !slices.ContainsFunc(add, w.same):
			add = append(add, w)
		}
	}
	for _, r := range left {
		if r.ID != 0 {
			remove = append(remove, r.ID)
		}
	}
	return add, remove
}

// Text says what a row is: "calendar de-BY: Heiligabend".
func (r Row) Text() string {
	text := "calendar " + r.Name
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}
