package days

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// Calendars are all rows of the table. They are immutable, and safe for concurrent use. nil has none.
type Calendars struct {
	named map[string][]Row
	mu    sync.Mutex
	begin map[begins]calendar.Schedule
}

// begins is a timer of a row in a zone.
type begins struct{ timer, zone string }

// NewCalendars returns the calendars of rows.
func NewCalendars(rows []Row) *Calendars {
	c := &Calendars{named: map[string][]Row{}, begin: map[begins]calendar.Schedule{}}
	for _, r := range rows {
		c.named[r.Name] = append(c.named[r.Name], r)
	}
	return c
}

// Names splits the text of exclude_calendars or run_calendars.
func Names(list string) []string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// UnknownError is returned for a calendar that does not exist.
type UnknownError struct {
	Column string // that names it
	Name   string
}

// Error names the column and the calendar.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s names the calendar %q, which does not exist; add its days to periodic_calendar, or correct the name", e.Column, e.Name)
}

// covers are the rows of some calendars in a zone.
type covers struct {
	names []string
	zone  *time.Location
	rows  []cover
}

type cover struct {
	*Row
	begin calendar.Schedule // nil: days
}

// in returns the rows of the calendars that a column names. bad says which of them cannot be read: they
// are left out.
func (c *Calendars) in(column, list string, zone *time.Location) (found covers, bad string, err error) {
	found = covers{names: Names(list), zone: zone}
	for _, name := range found.names {
		if c == nil || len(c.named[name]) == 0 {
			return found, bad, &UnknownError{column, name}
		}
		rows := c.named[name]
		for i := range rows {
			begin, err := c.schedule(&rows[i], zone)
			if err != nil {
				bad = fmt.Sprintf("a row of the calendar %q is ignored: %v", name, err)
				continue
			}
			found.rows = append(found.rows, cover{&rows[i], begin})
		}
	}
	return found, bad, nil
}

// schedule is when the times of a row begin; nil for days.
func (c *Calendars) schedule(r *Row, zone *time.Location) (calendar.Schedule, error) {
	if r.Timer == "" {
		return nil, nil
	}
	key := begins{r.Timer, zone.String()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.begin[key]; ok {
		return s, nil
	}
	s, err := inZone(r.Timer, zone)
	if err == nil {
		c.begin[key] = s
	}
	return s, err
}

// inZone parses a timer that is meant in a zone unless it names one.
func inZone(timer string, zone *time.Location) (calendar.Schedule, error) {
	for _, text := range []string{timer + " " + zone.String(), "CRON_TZ=" + zone.String() + " " + timer} {
		if s, err := calendar.Parse(text); err == nil {
			return s, nil
		}
	}
	return calendar.Parse(timer)
}

// at returns the first row that covers a time, or nil.
func (c *covers) at(t time.Time) *Row {
	local := t.In(c.zone)
	year, month, day := local.Date()
	today := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	i := slices.IndexFunc(c.rows, func(r cover) bool {
		if r.begin != nil {
			begun := r.begin.Prev(t.Add(time.Microsecond))
			return !begun.IsZero() && t.Before(begun.Add(r.Length))
		}
		return !today.Before(r.First) && (today.Equal(r.First) || !today.After(r.Last))
	})
	if i < 0 {
		return nil
	}
	return c.rows[i].Row
}
