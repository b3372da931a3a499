package simulate_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

// override decides about random ticks, and about times that are none.
func (c *dayCase) override(r *rand.Rand) {
	ticks, err := c.task.Upcoming(c.from.Add(-time.Microsecond), 60)
	ticks = slices.DeleteFunc(ticks, func(u periodic.Upcoming) bool { return !u.Due.Before(c.to) })
	if err != nil || len(ticks) == 0 {
		return
	}
	one := func() time.Time { return ticks[r.IntN(len(ticks))].Due }
	var list []days.Override
	for range r.IntN(7) {
		o := days.Override{Due: one(), Created: c.from.AddDate(0, 0, -1)}
		if r.IntN(8) == 0 {
			o.Due = o.Due.Add(time.Minute)
		}
		switch r.IntN(6) {
		case 0, 1:
			o.To = one()
		case 2:
			o.To = o.Due.Add(time.Duration(1+r.IntN(200)) * time.Hour)
		case 3:
			if o.To = o.Due.Add(-time.Duration(1+r.IntN(200)) * time.Hour); o.To.Before(c.from) {
				o.To = c.from.Add(7 * time.Second)
			}
		case 4:
			o.To, o.Created = one().Add(13*time.Minute), c.to.AddDate(1, 0, 0)
		}
		if !o.To.Equal(o.Due) && !slices.ContainsFunc(list, func(other days.Override) bool { return other.Due.Equal(o.Due) }) {
			list = append(list, o)
		}
	}
	c.task.Days.Overrides = list
}

// overridden is the slow, obvious rule for overrides: of ticks that take place, with the times of the timer, and of those
// that are left out.
func (c dayCase) overridden(taken map[time.Time]time.Time, left []time.Time) (map[time.Time]time.Time, []time.Time) {
	about := map[time.Time]days.Override{}
	for _, o := range c.task.Days.Overrides {
		if _, ok := taken[o.Due]; ok {
			about[o.Due] = o
		}
	}
	after := map[time.Time]time.Time{}
	for due, nominal := range taken {
		if _, ok := about[due]; !ok {
			after[due] = nominal
		}
	}
	for _, o := range slices.SortedFunc(maps.Values(about), func(a, b days.Override) int { return a.Due.Compare(b.Due) }) {
		if _, meets := after[o.To]; o.To.IsZero() || !o.To.After(o.Created) || meets {
			left = append(left, o.Due)
		} else {
			after[o.To] = taken[o.Due]
		}
	}
	return after, slices.DeleteFunc(left, func(at time.Time) bool { _, ok := after[at]; return ok })
}

func tickLine(due, nominal time.Time, left bool) string {
	line := due.Format(time.DateTime) + " submitted"
	if left {
		line = due.Format(time.DateTime) + " skipped"
	} else if !nominal.IsZero() && !nominal.Equal(due) {
		line += " of " + nominal.Format(time.DateTime)
	}
	return line
}
