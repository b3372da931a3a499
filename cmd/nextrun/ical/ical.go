// Package ical reads the days of an iCalendar file (RFC 5545), such as one of public holidays, as rows of
// periodic_calendar.
package ical

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	ics "github.com/arran4/golang-ical"
	"github.com/teambition/rrule-go"

	"github.com/nextrun/nextrun/periodic/days"
)

// Problem is an event that was left out.
type Problem struct {
	Line int // at which it begins
	Err  error
}

// mostRows bounds the days of one event that recurs.
const mostRows = 5000

// Read returns the days of the events of a file as rows of a calendar, of events that recur those from a time up to
// another one. Events that it cannot read are among the problems.
func Read(text, name string, from, to time.Time) (rows []days.Row, problems []Problem) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	line, begun, events := 0, 0, 0
	var event strings.Builder
	for l := range strings.Lines(text) {
		line++
		switch strings.ToUpper(strings.TrimSpace(l)) {
		case "BEGIN:VEVENT":
			begun, events = line, events+1
			event.Reset()
		case "END:VEVENT":
			if begun == 0 {
				continue
			}
			found, err := one(event.String(), name, from, to)
			if rows = append(rows, found...); err != nil {
				problems = append(problems, Problem{begun, err})
			}
			begun = 0
		default:
			if begun > 0 {
				event.WriteString(l)
			}
		}
	}
	switch {
	case begun > 0:
		problems = append(problems, Problem{begun, fmt.Errorf("the event has no END:VEVENT")})
	case events == 0:
		problems = append(problems, Problem{1, fmt.Errorf("there is no event (BEGIN:VEVENT) in it; is it an iCalendar file?")})
	}
	return rows, problems
}

// one reads one event.
func one(body, name string, from, to time.Time) ([]days.Row, error) {
	file, err := ics.ParseCalendar(strings.NewReader("BEGIN:VCALENDAR\nBEGIN:VEVENT\n" + body + "END:VEVENT\nEND:VCALENDAR\n"))
	if err != nil {
		return nil, err
	}
	event := file.Events()[0]
	if p := event.GetProperty(ics.ComponentPropertyStatus); p != nil && p.Value == string(ics.ObjectStatusCancelled) {
		return nil, nil
	}
	if event.HasProperty(ics.ComponentPropertyRecurrenceId) {
		return nil, fmt.Errorf("it changes one occurrence of another event (RECURRENCE-ID), which is not supported; add its days with: nextrun calendar add")
	}
	start := event.GetProperty(ics.ComponentPropertyDtStart)
	if start == nil {
		return nil, fmt.Errorf("it has no DTSTART")
	}
	row := days.Row{Name: name, Reason: summary(event)}
	allDay := len(start.Value) == len("20060102")
	begins, err := begin(event, allDay)
	if err != nil {
		return nil, fmt.Errorf("DTSTART %s: %w", start.Value, err)
	}
	length, err := lengthOf(event, begins, allDay)
	if err != nil {
		return nil, err
	}
	all, err := recurrences(event, begins, from, to)
	if err != nil {
		return nil, err
	}
	rows := make([]days.Row, len(all))
	for i, at := range all {
		rows[i] = row
		if allDay {
			rows[i].First = at
			if length > 24*time.Hour {
				rows[i].Last = at.Add(length - 24*time.Hour)
			}
			continue
		}
		rows[i].Timer, rows[i].Length = at.UTC().Format("2006-01-02 15:04:05 UTC"), length
	}
	return rows, nil
}

func begin(event *ics.VEvent, allDay bool) (time.Time, error) {
	if allDay {
		at, err := event.GetAllDayStartAt()
		return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC), err
	}
	return event.GetStartAt()
}

// lengthOf is how long an event takes. DTEND is not part of it.
func lengthOf(event *ics.VEvent, begins time.Time, allDay bool) (time.Duration, error) {
	if p := event.GetProperty(ics.ComponentPropertyDuration); p != nil {
		return 0, fmt.Errorf("it has a DURATION (%s), which is not supported; write DTEND instead", p.Value)
	}
	end := event.GetProperty(ics.ComponentPropertyDtEnd)
	if end == nil {
		if allDay {
			return 24 * time.Hour, nil
		}
		return 0, fmt.Errorf("it has no DTEND, so it takes no time")
	}
	ends, err := event.GetEndAt()
	if allDay && err == nil {
		ends, err = event.GetAllDayEndAt()
		ends = time.Date(ends.Year(), ends.Month(), ends.Day(), 0, 0, 0, 0, time.UTC)
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("DTEND %s: %w", end.Value, err)
	case allDay && ends.Equal(begins):
		return 24 * time.Hour, nil
	case !ends.After(begins):
		return 0, fmt.Errorf("its DTEND %s is not after its DTSTART", end.Value)
	}
	return ends.Sub(begins), nil
}

// recurrences are the begins of an event.
func recurrences(event *ics.VEvent, begins, from, to time.Time) ([]time.Time, error) {
	rule := event.GetProperty(ics.ComponentPropertyRrule)
	if rule == nil {
		return []time.Time{begins}, nil
	}
	options, err := rrule.StrToROption(rule.Value)
	if err != nil {
		return nil, fmt.Errorf("RRULE %s: %w", rule.Value, err)
	}
	options.Dtstart = begins
	r, err := rrule.NewRRule(*options)
	if err != nil {
		return nil, fmt.Errorf("RRULE %s: %w", rule.Value, err)
	}
	var set rrule.Set
	set.RRule(r)
	for _, p := range event.GetProperties(ics.ComponentPropertyExdate) {
		for text := range strings.SplitSeq(p.Value, ",") {
			at, err := time.ParseInLocation("20060102T150405", strings.TrimSuffix(text, "Z"), begins.Location())
			if len(text) == len("20060102") {
				at, err = time.Parse("20060102", text)
			}
			if err != nil {
				return nil, fmt.Errorf("EXDATE %s: it is not a date", text)
			}
			set.ExDate(at)
		}
	}
	all, next := []time.Time{}, set.Iterator()
	for at, ok := next(); ok && at.Before(to); at, ok = next() {
		switch {
		case at.Before(from):
		case len(all) == mostRows:
			return nil, fmt.Errorf("RRULE %s: it has more than %d days; add a row with a timer instead: nextrun calendar add", rule.Value, mostRows)
		default:
			all = append(all, at)
		}
	}
	return all, nil
}

// summary is the reason of the rows, as long as the column takes it.
func summary(event *ics.VEvent) string {
	p := event.GetProperty(ics.ComponentPropertySummary)
	if p == nil {
		return ""
	}
	text := strings.ToValidUTF8(strings.ReplaceAll(p.Value, "\x00", ""), "?")
	for utf8.RuneCountInString(text) > 254 {
		_, last := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-last]
	}
	return strings.Join(strings.Fields(text), " ")
}
