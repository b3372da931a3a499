package explain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// explainDates describes the days; nothing for every day.
func explainDates(r elapse.DateRule) string {
	days := explainDays(r.Days)
	months := "every month"
	if r.Months != 1<<13-2 {
		months = listed(elapse.Members(uint64(r.Months)), func(m int) string { return time.Month(m).String() })
	}
	years := ""
	if r.Years != elapse.EveryYear() {
		years = " in " + listed(r.Years.Members(), strconv.Itoa)
	}
	switch {
	case days == "" && months == "every month" && years == "":
		return ""
	case days == "" && months == "every month":
		return "every day" + years
	case days == "":
		return "every day in " + months + years
	case strings.Contains(days, monthMark):
		only := ""
		if months != "every month" {
			only = " in " + months
		}
		return strings.NewReplacer(monthMark, "of "+months, onlyMark, only).Replace(days) + years
	case months != "every month":
		return days + " in " + months + years
	}
	return days + years
}

// In the description of days, monthMark stands for "of" and the months, onlyMark for "in" and the
// months, but for nothing if these are all.
const (
	monthMark = "\x00"
	onlyMark  = "\x01"
)

// explainDays describes the days of a month; nothing for every day.
func explainDays(rule elapse.MonthRule) string {
	switch rule := rule.(type) {
	case elapse.EventDays:
		return explainEventDays(rule)
	case *elapse.CronDays:
		return explainCronDays(rule)
	}
	return ""
}

func explainEventDays(r elapse.EventDays) string {
	weekdays := explainWeekdays(r.Weekdays)
	days := ""
	switch {
	case r.FromEnd == 1<<1:
		days = "the last day"
	case r.FromEnd != 0 && r.FromEnd&(r.FromEnd+2) == 0:
		days = fmt.Sprintf("the last %d days", len(elapse.Members(uint64(r.FromEnd))))
	case r.FromEnd != 0:
		days = "the " + listed(elapse.Members(uint64(r.FromEnd)), fromLast) + " day"
	case r.Days != elapse.AllMonthdays:
		days = "the " + listed(elapse.Members(uint64(r.Days)), ordinal)
	}
	return joinDays(days, weekdays, true)
}

// joinDays joins a description of days of the month with one of weekdays; both must match, or one
// of them.
func joinDays(days, weekdays string, both bool) string {
	switch {
	case days == "":
		return weekdays
	case weekdays == "":
		return "on " + days + " " + monthMark
	case both:
		return weekdays + " that fall on " + days + " " + monthMark
	}
	if !strings.Contains(weekdays, monthMark) {
		weekdays += onlyMark
	}
	return "on " + days + " " + monthMark + " and " + weekdays
}

// explainWeekdays describes a set of weekdays; nothing for the whole week.
func explainWeekdays(set uint8) string {
	if set == elapse.AllWeekdays || set == 0 {
		return ""
	}
	return "on " + listed(elapse.Members(uint64(set)), func(d int) string { return weekdayName(d) + "s" })
}

func explainCronDays(d *elapse.CronDays) string {
	everyDay, everyWeekday := d.Days == elapse.AllMonthdays, d.Weekdays == elapse.AllWeekdays
	switch {
	case everyDay && everyWeekday, !d.Both && !d.AnyDay && !d.AnyWeekday && (everyDay || everyWeekday):
		return ""
	case everyDay || d.AnyDay:
		return joinDays("", namedWeekdays(d), d.Both)
	case everyWeekday || d.AnyWeekday:
		return joinDays(namedDays(d), "", d.Both)
	}
	return joinDays(namedDays(d), namedWeekdays(d), d.Both)
}

func namedDays(d *elapse.CronDays) string {
	var days []string
	if d.Days != 0 {
		days = append(days, "the "+listed(elapse.Members(uint64(d.Days)), ordinal))
	}
	if d.Last {
		days = append(days, "the last day")
	}
	for _, n := range elapse.Members(uint64(d.Workdays)) {
		days = append(days, "the workday nearest to the "+ordinal(n))
	}
	return joined(days)
}

func namedWeekdays(d *elapse.CronDays) string {
	var weekdays []string
	if d.Weekdays != 0 {
		weekdays = append(weekdays, strings.TrimPrefix(explainWeekdays(d.Weekdays), "on "))
	}
	for n, set := range d.Nth {
		for _, day := range elapse.Members(uint64(set)) {
			weekdays = append(weekdays, "the "+ordinal(n)+" "+weekdayName(day)+" "+monthMark)
		}
	}
	for _, day := range elapse.Members(uint64(d.LastOf)) {
		weekdays = append(weekdays, "the last "+weekdayName(day)+" "+monthMark)
	}
	return "on " + joined(weekdays)
}

// weekdayName names a weekday, 0 being Monday.
func weekdayName(d int) string { return time.Weekday((d + 1) % 7).String() }
