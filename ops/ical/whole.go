package ical

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/nextrun/nextrun/periodic/days"
)

// whole is an event of whole days. Midnight in UTC stands for a day.
type whole struct {
	start          time.Time
	length         int // in days
	reason         string
	rule           *rrule.RRule // nil: it has none
	added, removed []time.Time  // RDATE, EXDATE
	replaces       time.Time    // the occurrence whose place it takes; zero: it is no such event
	cancelled      bool
}

// read reads an event, of one that recurs the days up to a time. The error says what is not understood.
func (e *event) read(to time.Time) (w whole, err error) {
	if w.replaces, err = e.day("RECURRENCE-ID"); err != nil || e.err != nil {
		return w, cmp.Or(e.err, err)
	}
	switch status := strings.ToUpper(e.text("STATUS")); status {
	case "CANCELLED":
		w.cancelled = true
		return w, nil
	case "", "CONFIRMED", "TENTATIVE":
	default:
		return w, fmt.Errorf("STATUS:%s is not known", status)
	}
	if w.start, err = e.day("DTSTART"); err != nil || w.start.IsZero() {
		return w, cmp.Or(err, errors.New("it has no DTSTART"))
	}
	var added, removed, rule error
	w.reason = e.reason()
	w.length, err = e.length(w.start)
	w.added, added = e.dates("RDATE")
	w.removed, removed = e.dates("EXDATE")
	w.rule, rule = e.rule(w.start, to)
	return w, cmp.Or(err, added, removed, rule)
}

// dates are the days of all properties of a name.
func (e *event) dates(name string) (list []time.Time, err error) {
	for _, p := range e.properties[name] {
		for key, values := range p.ICalParameters {
			value := strings.Trim(strings.Join(values, ""), " ")
			if value != "" && (key == "TZID" || key == "RANGE" || key == "VALUE" && !strings.EqualFold(value, "DATE")) {
				return nil, fmt.Errorf("%s has %s=%s; only whole days are read", name, key, value)
			}
		}
		for text := range strings.SplitSeq(p.Value, ",") {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			at, err := time.Parse(rrule.DateFormat, text)
			if err != nil || !at.After(time.Time{}) {
				return nil, fmt.Errorf("%s:%s is not a day; only whole days are read", name, text)
			}
			list = append(list, at)
		}
	}
	return list, nil
}

// day is the day of a property that an event has once, the zero time if it has none.
func (e *event) day(name string) (time.Time, error) {
	list, err := e.dates(name)
	switch {
	case err != nil || len(list) == 0:
		return time.Time{}, err
	case len(list) > 1:
		return time.Time{}, fmt.Errorf("it has several %s", name)
	}
	return list[0], nil
}

// duration is one of days. Times are all zero.
var duration = regexp.MustCompile(`^\+?P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:0+[HMS])+)?$`)

// length is how many days an event takes. DTEND is not part of it.
func (e *event) length(start time.Time) (n int, err error) {
	end, err := e.day("DTEND")
	if err != nil {
		return 0, err
	}
	switch list := e.properties["DURATION"]; {
	case len(list) > 1, len(list) > 0 && !end.IsZero():
		return 0, errors.New("it has a DURATION and another end")
	case len(list) > 0:
		m := duration.FindStringSubmatch(strings.ToUpper(list[0].Value))
		if m == nil {
			return 0, fmt.Errorf("DURATION:%s is not in days", list[0].Value)
		}
		weeks, _ := strconv.Atoi(m[1]) // empty: 0
		more, _ := strconv.Atoi(m[2])
		n = 7*weeks + more
	case !end.IsZero():
		n = int((end.Unix() - start.Unix()) / (24 * 60 * 60))
	}
	if n < 0 || start.AddDate(0, 0, n).Year() > 9999 {
		return 0, errors.New("its end is before its begin, or after the year 9999")
	}
	return max(n, 1), nil
}

// row is the row of an occurrence.
func (w *whole) row(at time.Time) days.Row {
	row := days.Row{First: at, Reason: w.reason}
	if w.length > 1 {
		row.Last = at.AddDate(0, 0, w.length-1)
	}
	return row
}

// occurrences are the first days of an event, those of its rule from a time up to another one. They end with ctx.
func (w *whole) occurrences(ctx context.Context, from, to time.Time) []time.Time {
	all := w.added
	if w.rule == nil {
		return append(all, w.start)
	}
	next := w.rule.Iterator()
	for at, ok := next(); ok && at.Before(to) && ctx.Err() == nil; at, ok = next() {
		if !at.Before(from) {
			all = append(all, at)
		}
	}
	return all
}
