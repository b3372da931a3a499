package calendar

import "github.com/nextrun/nextrun/internal/elapse"

// Daily returns the days of a schedule: one that elapses every day at the same time of day in the same
// zone, so that all elapses of the schedule are among its elapses. ok is false for a schedule that may
// elapse at several times of day.
func Daily(s Schedule) (daily Schedule, ok bool) {
	switch s := s.(type) {
	case interface{ Elapses() *elapse.Set }:
		set := s.Elapses()
		if !set.Clock().Once() {
			return nil, false
		}
		every := elapse.DateRule{Months: 1<<13 - 2, Days: elapse.EventDays{Weekdays: elapse.AllWeekdays, Days: elapse.AllMonthdays}}
		for y := elapse.FirstYear; y <= elapse.LastYear; y++ {
			every.Years.Add(y)
		}
		return &days{elapse.NewSet(every, *set.Clock(), set.Zone)}, true
	case *elapse.Interval:
		v := *s
		v.Count = 1
		v.Unit, _ = elapse.UnitNamed("day")
		if s.Unit.Micros > 0 { // of a fixed length, so each day has 24 hours
			v.Count, v.Unit = int64(elapse.Day/elapse.Hour), elapse.Units[2]
		}
		return &v, s.Unit.Micros == 0 || elapse.Wall(s.Count)*s.Unit.Micros%elapse.Day == 0
	}
	return nil, false
}

// days is the schedule of every day at a time of day.
type days struct{ elapse.Set }

// String implements Schedule.
func (d *days) String() string {
	first, _ := d.Clock().Next(0)
	return (&event{spec: eventSpec{
		hours:   elapse.Chain{elapse.One(int64(first / elapse.Hour))},
		minutes: elapse.Chain{elapse.One(int64(first % elapse.Hour / elapse.Minute))},
		seconds: elapse.Chain{elapse.One(int64(first % elapse.Minute))},
		zone:    d.Zone.Name,
	}}).String()
}
