package explain

import (
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// Schedule says in English when a schedule elapses, as in "at 02:00 on the last day of every month,
// Europe/Berlin time". The wording is for people and may change. Schedules that this package has
// not made are described by their String.
func Schedule(s calendar.Schedule) string {
	switch s := s.(type) {
	case interface{ Elapses() *elapse.Set }:
		return explainSet(s.Elapses())
	case *elapse.Interval:
		return explainInterval(s)
	}
	return s.String()
}

// explainSet describes the time of day, the days and the zone, in this order.
func explainSet(s *elapse.Set) string {
	at := explainClock(s.Clock())
	on := explainDates(s.Rule)
	if on == "" && !s.Clock().EveryHour() && !strings.HasSuffix(at, "hours") {
		on = "every day"
	}
	if on != "" {
		at += " " + on
	}
	return at + ", " + zoneWords(s.Zone)
}

func zoneWords(z *elapse.Zone) string {
	if z == elapse.UTC {
		return z.Name
	}
	if elapse.IsOffset(z.Name) {
		return elapse.UTC.Name + z.Name
	}
	return z.Name + " time"
}

func explainInterval(v *elapse.Interval) string {
	text := fmt.Sprintf("every %d %ss", v.Count, v.Unit.Name)
	if v.Count == 1 {
		text = "every " + v.Unit.Name
	}
	from := elapse.Instant(v.Start).Time().Format("2006-01-02 15:04:05")
	text += ", counted from " + strings.TrimSuffix(from, ":00") + ", " + zoneWords(v.Zone)
	if days, _ := v.Start.Split(); v.Unit.Months > 0 && elapse.DateOf(days).Day > 28 {
		text += "; on the last day of months that are too short"
	}
	return text
}
