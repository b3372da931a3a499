package explain_test

import (
	"testing"

	"github.com/nextrun/nextrun/calendar/explain"
)

func TestSchedule(t *testing.T) {
	for _, c := range []struct{ timer, want string }{
		{"*-*~1 02:00 Europe/Berlin", "at 02:00 on the last day of every month, Europe/Berlin time"},
		{"daily", "at 00:00 every day, UTC"},
		{"*-*-* 02:00 +02:00", "at 02:00 every day, UTC+02:00"},
		{"hourly", "every hour, UTC"},
		{"*:*:*", "every second, UTC"},
		{"*:0/5", "every 5 minutes, UTC"},
		{"00/2:00", "every 2 hours, UTC"},
		{"1/3:00", "on the hour at 01:00, 04:00, ... 22:00 every day, UTC"},
		{"00/2:30", "at minute 30 of hours 0, 2, ... 22 every day, UTC"},
		{"*:0/5:30", "at second 30 of minutes 0, 5, ... 55 of every hour, UTC"},
		{"12:*:*", "every second from 12:00 to 12:59 every day, UTC"},
		{"12:00:00.25,30.5", "at second 0.250000,30.500000 of the minute 12:00 every day, UTC"},
		{"*:*:00.5..2.5", "at second 0.500000..2.500000 of every minute, UTC"},
		{"Mon..Fri 09..17:0/15", "every 15 minutes from 09:00 to 17:59 on Mondays to Fridays, UTC"},
		{"04,12:00,30", "at 04:00, 04:30, 12:00 and 12:30 every day, UTC"},
		{"2024..2030-02-29", "at 00:00 on the 29th of February in 2024 to 2030, UTC"},
		{"Mon *-06,12-* 05:00", "at 05:00 on Mondays in June and December, UTC"},
		{"Fri *-*-13 12:00", "at 12:00 on Fridays that fall on the 13th of every month, UTC"},
		{"*-*~3,22", "at 00:00 on the 3rd to last and 22nd to last day of every month, UTC"},
		{"*-*-01/2", "at 00:00 on the 1st, 3rd, ... 31st of every month, UTC"},
		{"0 0 1,2,15W,L * *", "at 00:00 on the 1st and 2nd, the last day and the workday nearest to the 15th of every month, UTC"},
		{"0 0 * 6 5L,1#2", "at 00:00 on the 2nd Monday of June and the last Friday of June, UTC"},
		{"0 0 0/10 0/6 *", "at 00:00 on the 10th, 20th and 30th of June and December, UTC"},
		{"0 0 13 * 5", "at 00:00 on the 13th of every month and on Fridays, UTC"},
		{"0 0 1 6 5L", "at 00:00 on the 1st of June and on the last Friday of June, UTC"},
		{"CRON_TZ=Asia/Tokyo 0 9 * * 1", "at 09:00 on Mondays, Asia/Tokyo time"},
		{"every 15m", "every 15 minutes, counted from 1970-01-01 00:00, UTC"},
		{"every month from 2026-01-31T02:00:00Z",
			"every month, counted from 2026-01-31 02:00, UTC; on the last day of months that are too short"},
		{"every 2 weeks from 2026-01-05 Europe/Berlin", "every 2 weeks, counted from 2026-01-05 00:00, Europe/Berlin time"},
	} {
		if got := explain.Schedule(mustParse(t, c.timer)); got != c.want {
			t.Errorf("Schedule(%q)\n got %s\nwant %s", c.timer, got, c.want)
		}
	}
	if got := explain.Schedule(foreign{}); got != "always" {
		t.Errorf("Schedule of a schedule of another package: %q", got)
	}
}
