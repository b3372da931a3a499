package explain

import (
	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/elapse"
)

// canon is a set of times that a calendar event can say.
type canon struct {
	days   elapse.EventDays
	months uint16
	years  elapse.YearSet
	clock  elapse.Clock
	zone   string
}

// canonOf reports whether a schedule is such a set.
func canonOf(s calendar.Schedule) (canon, bool) {
	switch s := s.(type) {
	case interface{ Elapses() *elapse.Set }:
		set := s.Elapses()
		days, ok := eventDays(set.Rule.Days)
		return canon{days, set.Rule.Months, set.Rule.Years, *set.Clock(), set.Zone.Name}, ok && set.Clock().Parts == nil
	case *elapse.Interval:
		return canonOfInterval(s)
	}
	return canon{}, false
}

// eventDays are the days of a rule as a calendar event has them. Of a rule that needs both or one of
// a day and a weekday they may be others: proved finds out.
func eventDays(rule elapse.MonthRule) (elapse.EventDays, bool) {
	d, isCron := rule.(*elapse.CronDays)
	if !isCron {
		days, isEvent := rule.(elapse.EventDays)
		return days, isEvent
	}
	days := elapse.EventDays{Weekdays: elapse.AllWeekdays, Days: elapse.AllMonthdays}
	if !d.AnyDay {
		if days.Days = d.Days; d.Last {
			days.Days, days.FromEnd = 0, 1<<1
		}
	}
	if !d.AnyWeekday {
		days.Weekdays = d.Weekdays | d.LastOf
		for n, set := range d.Nth {
			if set != 0 {
				days.Weekdays, days.Days = days.Weekdays|set, nthWeek(n)
			}
		}
		if d.LastOf != 0 {
			days.Days, days.FromEnd = 0, lastWeek
		}
	}
	return days, d.Workdays == 0
}

// The last seven days of a month, and the seven of which one is the n-th of its weekday.
const lastWeek = 1<<8 - 2

func nthWeek(n int) uint32 { return uint32(elapse.BitRange(7*n-6, 7*n)) }

// canonOfInterval are the times of an interval that divides a day, or is a day, a week, or some
// months that divide a year.
func canonOfInterval(v *elapse.Interval) (canon, bool) {
	c := canon{elapse.EventDays{Weekdays: elapse.AllWeekdays, Days: elapse.AllMonthdays}, 1<<13 - 2, elapse.EveryYear(), elapse.Clock{}, v.Zone.Name}
	first, days := v.Anchor.Time().In(v.Zone.Location), v.Count*v.Unit.Days
	step := elapse.Wall(0)
	if v.Unit.Micros > 0 {
		first, c.zone, step = first.UTC(), "UTC", elapse.Wall(v.Count)*v.Unit.Micros
		if step%elapse.Day == 0 {
			days, step = int64(step/elapse.Day), 0
		}
	}
	at := elapse.Wall(first.Hour())*elapse.Hour + elapse.Wall(first.Minute())*elapse.Minute + elapse.Wall(first.Second())*elapse.Second
	if first.Nanosecond() != 0 || step > 0 && (elapse.Day%step != 0 || step%elapse.Second != 0) {
		return c, false
	}
	for n := elapse.Wall(0); n == 0 || step > 0 && n < elapse.Day; n += max(step, 1) {
		t := (at + n) % elapse.Day
		c.clock.Hours |= 1 << (t / elapse.Hour)
		c.clock.Minutes |= 1 << (t % elapse.Hour / elapse.Minute)
		c.clock.Seconds |= 1 << (t % elapse.Minute / elapse.Second)
	}
	switch months := v.Count * v.Unit.Months; {
	case step > 0 || days == 1:
	case days == 7:
		c.days.Weekdays = 1 << ((first.Weekday() + 6) % 7)
	case months > 0 && 12%months == 0 && first.Day() <= 28:
		c.days.Days, c.months = 1<<first.Day(), 0
		for m := int64(0); m < 12; m += months {
			c.months |= 1 << ((int64(first.Month())+m-1)%12 + 1)
		}
	default:
		return c, false
	}
	return c, true
}
