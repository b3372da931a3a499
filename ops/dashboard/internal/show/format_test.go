package show

import (
	"testing"
	"time"
)

// Of two times, both have their days, unless both are today.
func TestRange(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)
	for hours, want := range map[[2]int][2]string{
		{-2, 1}: {"10:00:00", "13:00:00"}, {-24, -1}: {"Tue 5 May, 12:00:00", "Wed 6 May, 11:00:00"}, {-1, 24}: {"Wed 6 May, 11:00:00", "Thu 7 May, 12:00:00"},
	} {
		from, to := Range(now.Add(time.Duration(hours[0])*time.Hour), now.Add(time.Duration(hours[1])*time.Hour), now, time.UTC)
		if [2]string{from, to} != want {
			t.Errorf("%v: %s to %s", hours, from, to)
		}
	}
}
