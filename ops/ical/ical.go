// Package ical reads the whole days of an iCalendar file (RFC 5545), such as one of public holidays, as rows of
// periodic_calendar. A series that it does not understand wholly is left out and named: no day is wrong in silence.
package ical

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/periodic/days"
)

// Problem is an event that was left out, with its whole series.
type Problem struct {
	Event string // its summary and first day
	Err   error
}

// mostRows bounds the rows of a file.
const mostRows = 100_000

// Read returns the days of the events of a file as rows of a calendar, in order; of a series those from a time up to
// another one. The error is about the whole file, or that of ctx.
func Read(ctx context.Context, content, name string, from, to time.Time) (rows []days.Row, problems []Problem, err error) {
	events, err := parse(ctx, content)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range seriesOf(events) {
		found, err := s.days(ctx, from, to)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			problems = append(problems, Problem{fmt.Sprintf("%q of %s", text.FirstLine(s[0].reason()), cmp.Or(s[0].text("DTSTART"), "no day")), err})
		}
		for _, r := range found {
			r.Name = name
			rows = append(rows, r)
		}
		if len(rows) > mostRows {
			return nil, nil, fmt.Errorf("it has more than %d days; split it", mostRows)
		}
	}
	slices.SortFunc(rows, func(a, b days.Row) int {
		return cmp.Or(a.First.Compare(b.First), a.Last.Compare(b.Last), cmp.Compare(a.Reason, b.Reason))
	})
	return slices.Compact(rows), problems, nil
}

// series are the events of one UID: one that may recur, and those that take the place of its occurrences.
type series []*event

// seriesOf are the series of a file. Events of one UID that are neither versions nor occurrences of another one are
// series of their own, as in files that give all events the same UID.
func seriesOf(events []*event) (all []series) {
	places := map[string]int{}
	for _, e := range events {
		uid := e.text("UID")
		if place, is := places[uid]; is && uid != "" {
			all[place] = append(all[place], e)
			continue
		}
		places[uid] = len(all)
		all = append(all, series{e})
	}
	for i, s := range all {
		related := slices.ContainsFunc(s, func(e *event) bool {
			return e.text("RECURRENCE-ID") != "" || e.text("SEQUENCE") != s[0].text("SEQUENCE")
		})
		if len(s) > 1 && !related {
			all[i] = s[:1]
			for _, e := range s[1:] {
				all = append(all, series{e})
			}
		}
	}
	return all
}

// days are the days of a series.
func (s series) days(ctx context.Context, from, to time.Time) (rows []days.Row, err error) {
	var main *whole
	replaced := map[time.Time]bool{}
	for _, e := range s {
		w, err := e.read(to)
		switch {
		case err != nil:
			return nil, err
		case w.replaces.IsZero() && main != nil:
			return nil, fmt.Errorf("several events have its UID")
		case w.replaces.IsZero():
			main = &w
		case w.rule != nil || len(w.added)+len(w.removed) > 0:
			return nil, fmt.Errorf("the event that changes its day %s recurs", w.replaces.Format(time.DateOnly))
		case replaced[w.replaces]:
			return nil, fmt.Errorf("two events change its day %s", w.replaces.Format(time.DateOnly))
		default:
			if replaced[w.replaces] = true; !w.cancelled {
				rows = append(rows, w.row(w.start))
			}
		}
	}
	if main == nil {
		return rows, nil
	}
	if main.cancelled {
		return nil, nil
	}
	for _, at := range main.removed {
		replaced[at] = true
	}
	for _, at := range main.occurrences(ctx, from, to) {
		if !replaced[at] {
			rows = append(rows, main.row(at))
		}
	}
	return rows, nil
}
