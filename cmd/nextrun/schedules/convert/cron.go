package convert

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// Reader is how a program reads an expression in a zone: as the timer that it imports as.
type Reader func(expression, zone string) (timer string, err error)

// Cron is the cron expression of five fields for a timer, and its zone. The program that
// gets it reads it as read does. lastDay is how it writes the last day of the month;
// empty: it cannot.
func Cron(timer, lastDay string, read Reader) (expression, zone string, err error) {
	if zone, err = Zone(timer); err != nil {
		return "", "", err
	}
	if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
		return "", "", fmt.Errorf("the offset %s has no equivalent, only zones have", zone)
	}
	var candidates []string
	if own, ok := ownFields(timer); ok {
		candidates = append(candidates, own)
	}
	r, err := ruleOf(timer)
	if err == nil {
		if r.lastDay {
			if lastDay == "" {
				return "", "", fmt.Errorf("the last day of the month has no equivalent")
			}
			candidates = nil
		}
		candidates = append(candidates, r.cron(lastDay))
	}
	for _, expression := range candidates {
		if back, err := read(expression, zone); err == nil && Same(timer, back) {
			return expression, zone, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("no cron expression of five fields elapses like %q", timer)
	}
	return "", "", err
}

// ownFields are the fields of a timer that is a cron expression already.
func ownFields(timer string) (string, bool) {
	words := strings.Fields(timer)
	for _, prefix := range []string{"CRON_TZ=", "TZ="} {
		if strings.HasPrefix(words[0], prefix) {
			words = words[1:]
		}
	}
	return strings.Join(words, " "), len(words) == 5 && words[0] != "every"
}

func (r rule) cron(lastDay string) string {
	stepped := !r.either || r.days.all() || r.weekdays.all()
	day := cronField(r.days, stepped)
	if r.lastDay {
		day = lastDay
	}
	return strings.Join([]string{
		cronField(r.minutes, true), cronField(r.hours, true), day, cronField(r.months, true), cronField(r.weekdays, stepped),
	}, " ")
}

func cronField(s set, stepped bool) string {
	if s.all() {
		return "*"
	}
	if n := s.step(); n > 0 && stepped {
		return "*/" + strconv.Itoa(n)
	}
	return s.list("-", strconv.Itoa)
}

// CronInterval is the expression that comes next to an interval: on the clock instead of
// from the creation.
func CronInterval(d time.Duration) (expression string, ok bool) {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute || d%time.Minute != 0:
		return "", false
	case d == 7*day:
		return "0 0 * * 0", true
	case d == day:
		return "0 0 * * *", true
	case d%time.Hour == 0 && d < day && day%d == 0:
		return cronEvery(int(d/time.Hour), "0 ", " * * *"), true
	case d < time.Hour && time.Hour%d == 0:
		return cronEvery(int(d/time.Minute), "", " * * * *"), true
	}
	return "", false
}

func cronEvery(n int, before, after string) string {
	if n == 1 {
		return before + "*" + after
	}
	return before + "*/" + strconv.Itoa(n) + after
}

// Events are the lines of OnCalendar for a timer: one, or two where a cron expression
// means one of two days.
func Events(timer string) ([]string, error) {
	s, err := calendar.Parse(timer)
	if err != nil {
		return nil, err
	}
	normal := s.String()
	if words := strings.Fields(strings.TrimPrefix(normal, "CRON_TZ=")); words[0] != "every" && len(words) <= 4 && timer[0] != '@' {
		return []string{timer}, nil // it is one
	}
	r, err := ruleOf(timer)
	if err != nil {
		return nil, err
	}
	zone, err := Zone(timer)
	if err != nil {
		return nil, err
	}
	lines := []string{r.event(true, true, zone)}
	if r.either && !r.weekdays.all() && (r.lastDay || !r.days.all()) {
		lines = []string{r.event(true, false, zone), r.event(false, true, zone)}
	}
	if !Same(timer, lines...) {
		return nil, fmt.Errorf("no calendar event elapses like %q", timer)
	}
	return lines, nil
}

// event writes the rule with its days, its weekdays or both.
func (r rule) event(days, weekdays bool, zone string) string {
	two := func(n int) string { return fmt.Sprintf("%02d", n) }
	field := func(s set) string {
		switch n := s.step(); {
		case s.all():
			return "*"
		case n > 0:
			return two(s.low) + "/" + strconv.Itoa(n)
		}
		return s.list("..", two)
	}
	date := "*-" + field(r.months) + "-"
	switch {
	case days && r.lastDay:
		date = strings.TrimSuffix(date, "-") + "~01"
	case days:
		date += field(r.days)
	default:
		date += "*"
	}
	words := []string{date, field(r.hours) + ":" + field(r.minutes) + ":00", zone}
	if weekdays && !r.weekdays.all() {
		var names []string
		for d := 1; d <= 7; d++ {
			if r.weekdays.has(d % 7) {
				names = append(names, weekdayNames[d%7])
			}
		}
		words = append([]string{strings.Join(names, ",")}, words...)
	}
	return strings.Join(words, " ")
}
