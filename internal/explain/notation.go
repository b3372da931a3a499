package explain

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/elapse"
)

// Notation is a schedule in one of the notations.
type Notation struct {
	Name  string `json:"notation"` // calendar event, cron expression or interval
	Timer string `json:"timer"`    // empty: nothing in this notation elapses at the same times
	Given bool   `json:"given"`    // the schedule was made from this notation
}

// Notations writes a schedule in each of the notations in which there is a timer that elapses at the
// same times from a given time on, for two years at least. The timer of the notation that it was
// made from is its normal form.
func Notations(schedule calendar.Schedule, at time.Time) []Notation {
	list := []Notation{{Name: "calendar event"}, {Name: "cron expression"}, {Name: "interval"}}
	c, known := canonOf(schedule)
	switch s := schedule.(type) {
	case interface{ Elapses() *elapse.Set }:
		given := 0
		if _, isCron := s.Elapses().Rule.Days.(*elapse.CronDays); isCron {
			given = 1
		}
		list[given].Given = true
		list[2].Timer = interval(schedule, at)
	case *elapse.Interval:
		list[2].Given = true
	}
	if known {
		list[0].Timer, list[1].Timer = proved(c.event(), schedule, at), proved(c.cron(), schedule, at)
	}
	for i := range list {
		if list[i].Given {
			list[i].Timer = schedule.String()
		}
	}
	return list
}

// event is a calendar event of these times.
func (c *canon) event() string {
	weekdays := ""
	if c.days.Weekdays != elapse.AllWeekdays {
		weekdays = ranges(uint64(c.days.Weekdays), "..", func(d int) string { return weekdayName(d)[:3] }) + " "
	}
	days := "-" + field(uint64(c.days.Days), 1, 31, "..", "%02d")
	switch {
	case c.days.FromEnd == lastWeek:
		days = "~07/1"
	case c.days.FromEnd != 0:
		days = "~" + ranges(uint64(c.days.FromEnd), ",", func(d int) string { return fmt.Sprintf("%02d", d) })
	}
	date := c.yearsText("..") + "-" + field(uint64(c.months), 1, 12, "..", "%02d") + days
	text := weekdays + date + " " + field(uint64(c.clock.Hours), 0, 23, "..", "%02d") + ":" + field(c.clock.Minutes, 0, 59, "..", "%02d")
	if c.clock.Seconds != 1 {
		text += ":" + field(c.clock.Seconds, 0, 59, "..", "%02d")
	}
	if c.zone != "UTC" {
		text += " " + c.zone
	}
	return text
}

// cron is a cron expression of these times; empty: there is none.
func (c *canon) cron() string {
	var weekdays uint64 // 0 is Sunday
	for _, d := range elapse.Members(uint64(c.days.Weekdays)) {
		weekdays |= 1 << ((d + 1) % 7)
	}
	day, weekday := field(uint64(c.days.Days), 1, 31, "-", "%d"), field(weekdays, 0, 6, "-", "%d")
	nth := (bits.TrailingZeros32(c.days.Days) + 6) / 7
	some := func(suffix string) (string, string) {
		return "*", strings.ReplaceAll(ranges(weekdays, ",", number), ",", suffix+",") + suffix
	}
	switch {
	case c.days.FromEnd == lastWeek && weekday != "*":
		day, weekday = some("L")
	case c.days.FromEnd == 1<<1 && weekday == "*":
		day = "L"
	case c.days.FromEnd != 0:
		return ""
	case day == "*" || weekday == "*":
	case nth >= 1 && nth <= 5 && c.days.Days == nthWeek(nth):
		day, weekday = some(fmt.Sprintf("#%d", nth))
	default:
		return ""
	}
	text := strings.Join([]string{field(c.clock.Minutes, 0, 59, "-", "%d"), field(uint64(c.clock.Hours), 0, 23, "-", "%d"), day, field(uint64(c.months), 1, 12, "-", "%d"), weekday}, " ")
	if c.clock.Seconds != 1 {
		text = field(c.clock.Seconds, 0, 59, "-", "%d") + " " + text
	}
	if years := c.yearsText("-"); years != "*" {
		text += " " + years
	}
	if c.zone != "UTC" {
		text = "CRON_TZ=" + c.zone + " " + text
	}
	return text
}

func (c *canon) yearsText(dots string) string {
	if c.years == elapse.EveryYear() {
		return "*"
	}
	years := c.years.Members()
	if n := len(years); n > 2 && years[n-1]-years[0] == n-1 {
		return fmt.Sprintf("%d%s%d", years[0], dots, years[n-1])
	}
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(years), "[]")), ",")
}

// field writes the numbers of a set from low to high: all of them, a step up to the end, or ranges
// and single ones.
func field(set uint64, low, high int, dots, format string) string {
	list := elapse.Members(set & elapse.BitRange(low, high))
	if len(list) == high-low+1 || len(list) == 0 {
		return "*"
	}
	first, last, step := list[0], list[len(list)-1], stepOf(list)
	switch {
	case step < 2 || len(list) < 3 || last+step <= high:
		return ranges(set&elapse.BitRange(low, high), dots, func(n int) string { return fmt.Sprintf(format, n) })
	case dots == "..":
		return fmt.Sprintf(format+"/%d", first, step)
	case first == low:
		return fmt.Sprintf("*/%d", step)
	}
	return fmt.Sprintf("%d-%d/%d", first, last, step)
}

// ranges writes the numbers of a set: three or more in a row become a range, unless dots is a comma.
func ranges(set uint64, dots string, name func(int) string) string {
	list, items := elapse.Members(set), []string(nil)
	for i := 0; i < len(list); i++ {
		j := i
		for dots != "," && j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if j >= i+2 {
			items = append(items, name(list[i])+dots+name(list[j]))
			i = j
			continue
		}
		items = append(items, name(list[i]))
	}
	return strings.Join(items, ",")
}

// interval is an interval that elapses at the times of a schedule; empty: there is none.
func interval(s calendar.Schedule, at time.Time) string {
	first := s.Next(at)
	distance := s.Next(first).Sub(first)
	if first.IsZero() || distance <= 0 {
		return ""
	}
	zone := calendar.Location(s)
	from := first.In(zone).Format("2006-01-02T15:04:05.999999")
	if zone != time.UTC {
		from += " " + zone.String()
	}
	even := fmt.Sprintf("%ds", distance/time.Second)
	if distance%time.Hour == 0 {
		even = fmt.Sprintf("%dh", distance/time.Hour)
	} else if distance%time.Minute == 0 {
		even = fmt.Sprintf("%dmin", distance/time.Minute)
	}
	for _, step := range []string{even, "1 day", "1 week", "1 month", "1 quarter", "1 year"} {
		if proved("every "+step+" from "+from, s, at) != "" {
			return "every " + strings.TrimPrefix(step, "1 ") + " from " + from
		}
	}
	return ""
}

// proved is a timer if it elapses at the same times as a schedule.
func proved(timer string, s calendar.Schedule, at time.Time) string {
	other, err := calendar.Parse(timer)
	if timer == "" || err != nil {
		return ""
	}
	starts := map[time.Time]int{at: 2000}
	for year := range 8 {
		starts[at.AddDate(year+1, 0, 0)] = 50
	}
	for _, c := range append(Changes(s, at), Changes(other, at)...) {
		starts[c.At.Add(-24*time.Hour)] = 200
	}
	for t, n := range starts {
		for ; n > 0 && !t.IsZero(); n-- {
			next := s.Next(t)
			if !other.Next(t).Equal(next) {
				return ""
			}
			t = next
		}
	}
	return timer
}
