package calendar

import (
	"fmt"
	"strings"
	"time"
)

// Explain says in English when a schedule elapses, as in "at 02:00 on the last day of every month, Europe/Berlin time".
// The wording is for people and may change. Schedules that this package has not made are described by their String.
func Explain(s Schedule) string {
	switch s := s.(type) {
	case *event:
		return s.explain()
	case *cron:
		return s.explain()
	case *interval:
		return s.explain()
	}
	return s.String()
}

// explain describes the time of day, the days and the zone, in this order.
func (t *ticker) explain() string {
	at := explainClock(&t.table.clock)
	on := explainDates(t.rule)
	if on == "" && !t.table.clock.everyHour() && !strings.HasSuffix(at, "hours") {
		on = "every day"
	}
	if on != "" {
		at += " " + on
	}
	return at + ", " + t.zone.words()
}

func (z *zone) words() string {
	if z == utc {
		return z.name
	}
	return z.name + " time"
}

func (v *interval) explain() string {
	text := fmt.Sprintf("every %d %ss", v.count, v.unit.name)
	if v.count == 1 {
		text = "every " + v.unit.name
	}
	from := v.anchor.time().In(v.zone.location).Format("2006-01-02 15:04:05")
	text += ", counted from " + strings.TrimSuffix(from, ":00") + ", " + v.zone.words()
	if days, _ := v.start.split(); v.unit.months > 0 && dateOf(days).day > 28 {
		text += "; on the last day of months that are too short"
	}
	return text
}

// explainDates describes the days; nothing for every day.
func explainDates(r dateRule) string {
	days := r.days.explain()
	months := "every month"
	if r.months != 1<<13-2 {
		months = listed(members(uint64(r.months)), func(m int) string { return time.Month(m).String() })
	}
	years := ""
	if r.years != everyYear() {
		years = " in " + listed(r.years.members(), func(y int) string { return fmt.Sprint(y) })
	}
	switch {
	case days == "" && months == "every month" && years == "":
		return ""
	case days == "" && months == "every month":
		return "every day" + years
	case days == "":
		return "every day in " + months + years
	case strings.Contains(days, monthMark):
		return strings.ReplaceAll(days, monthMark, "of "+months) + years
	case months != "every month":
		return days + " in " + months + years
	}
	return days + years
}

// monthMark stands for the months in the description of days.
const monthMark = "\x00"

// explain describes the days of a calendar event.
func (r eventDays) explain() string {
	weekdays := explainWeekdays(r.weekdays)
	days := ""
	switch {
	case r.fromEnd == 1<<1:
		days = "the last day"
	case r.fromEnd != 0 && r.fromEnd&(r.fromEnd+2) == 0:
		days = fmt.Sprintf("the last %d days", len(members(uint64(r.fromEnd))))
	case r.fromEnd != 0:
		days = "the " + listed(members(uint64(r.fromEnd)), fromLast) + " day"
	case r.days != allMonthdays:
		days = "the " + listed(members(uint64(r.days)), ordinal)
	}
	return joinDays(days, weekdays, true)
}

const allMonthdays = 1<<32 - 2

// joinDays joins a description of days of the month with one of weekdays; both must match, or one of them.
func joinDays(days, weekdays string, both bool) string {
	switch {
	case days == "":
		return weekdays
	case weekdays == "":
		return "on " + days + " " + monthMark
	case both:
		return weekdays + " that fall on " + days + " " + monthMark
	}
	return "on " + days + " " + monthMark + " and " + weekdays
}

// explainWeekdays describes a set of weekdays; nothing for the whole week.
func explainWeekdays(set uint8) string {
	if set == allWeekdays || set == 0 {
		return ""
	}
	return "on " + listed(members(uint64(set)), func(d int) string { return weekdayNames[d] + "s" })
}

// explain describes the days of a cron expression.
func (d *cronDays) explain() string {
	everyDay, everyWeekday := d.days == allMonthdays, d.weekdays == allWeekdays
	switch {
	case everyDay && everyWeekday, !d.both && !d.anyDay && !d.anyWeekday && (everyDay || everyWeekday):
		return ""
	case everyDay || d.anyDay:
		return joinDays("", d.explainWeekdays(), d.both)
	case everyWeekday || d.anyWeekday:
		return joinDays(d.explainDays(), "", d.both)
	}
	return joinDays(d.explainDays(), d.explainWeekdays(), d.both)
}

func (d *cronDays) explainDays() string {
	var days []string
	if d.days != 0 {
		days = append(days, "the "+listed(members(uint64(d.days)), ordinal))
	}
	if d.last {
		days = append(days, "the last day")
	}
	for _, n := range members(uint64(d.workdays)) {
		days = append(days, "the workday nearest to the "+ordinal(n))
	}
	return joined(days)
}

func (d *cronDays) explainWeekdays() string {
	var weekdays []string
	if d.weekdays != 0 {
		weekdays = append(weekdays, strings.TrimPrefix(explainWeekdays(d.weekdays), "on "))
	}
	for n, set := range d.nth {
		for _, day := range members(uint64(set)) {
			weekdays = append(weekdays, "the "+ordinal(n)+" "+weekdayNames[day]+" "+monthMark)
		}
	}
	for _, day := range members(uint64(d.lastOf)) {
		weekdays = append(weekdays, "the last "+weekdayNames[day]+" "+monthMark)
	}
	return "on " + joined(weekdays)
}
