package explain

import (
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/elapse"
)

// Change is a change of the clock in the zone of a schedule.
type Change struct {
	At       time.Time     `json:"at"` // in UTC
	From, To time.Duration `json:"-"`  // what the clock shows minus UTC, before and after
	Zone     string        `json:"-"`
}

// Changes are the changes of the clock in the two years after a time.
func Changes(s calendar.Schedule, at time.Time) (list []Change) {
	zone := elapse.UTC
	switch s := s.(type) {
	case interface{ Elapses() *elapse.Set }:
		zone = s.Elapses().Zone
	case *elapse.Interval:
		zone = s.Zone
	}
	for _, c := range zone.Changes(elapse.InstantOf(at), elapse.InstantOf(at.AddDate(lintYears, 0, 0))) {
		list = append(list, Change{c.At.Time(), time.Duration(c.Before) * time.Microsecond, time.Duration(c.After) * time.Microsecond, zone.Name})
	}
	return list
}
