package main_test

import "time"

// says holds, for each task of the cookbook, by its id or its timer, what the page says: whether a
// minute (in the zone of the timer) is one of its times. Nothing here knows timers.
var says = map[string]func(time.Time) bool{
	"Mon..Fri 09..16:0/15 Europe/Berlin":                func(t time.Time) bool { return weekday(t) && t.Minute()%15 == 0 && hours(t, 9, 17) },
	"every 90m from 2026-01-01T00:00:00Z":               func(t time.Time) bool { return t.Unix()%(90*60) == 0 }, // 2026 begins at such a time
	"every 2 weeks from 2026-01-05 09:00 Europe/Berlin": func(t time.Time) bool { return at(t, "09:00") && daysIn(t)%14 == 0 },
	"Mon *-*-1..7 10:00 Europe/Berlin":                  func(t time.Time) bool { return at(t, "10:00") && t.Weekday() == time.Monday && nth(t) == 1 },
	"Fri *-*~7/1 11:30 Europe/Berlin": func(t time.Time) bool {
		return at(t, "11:30") && t.Weekday() == time.Friday && t.AddDate(0, 0, 7).Month() != t.Month()
	},
	"*-*~1 23:00 Europe/Berlin": func(t time.Time) bool { return at(t, "23:00") && lastDay(t) },
	"payroll":                   func(t time.Time) bool { return at(t, "18:00") && lastWeekday(t) && lastDay(t) },
	"payroll-friday":            func(t time.Time) bool { return at(t, "18:00") && lastWeekday(t) && !lastDay(t) },
	"CRON_TZ=Europe/Berlin 0 9 15W * *": func(t time.Time) bool {
		switch {
		case !at(t, "09:00"):
			return false
		case t.Day() == 15:
			return weekday(t)
		default:
			return t.Day() == 14 && t.Weekday() == time.Friday || t.Day() == 16 && t.Weekday() == time.Monday
		}
	},
	"every month from 2026-01-31 02:00 Europe/Berlin": func(t time.Time) bool { return at(t, "02:00") && lastDay(t) && !second(t) },
	"*-3,6,9,12~1 23:30 Europe/Berlin":                func(t time.Time) bool { return at(t, "23:30") && lastDay(t) && t.Month()%3 == 0 },
	"22..23,00..05:0/30 Europe/Berlin":                func(t time.Time) bool { return t.Minute()%30 == 0 && !hours(t, 6, 22) && !second(t) },
	"vacuum-1":                                        func(t time.Time) bool { return at(t, "02:00") },
	"vacuum-2":                                        func(t time.Time) bool { return at(t, "02:00") },
	"2027-01-15 08:00 Europe/Berlin":                  func(t time.Time) bool { return at(t, "08:00") && t.Format(time.DateOnly) == "2027-01-15" },
	"02:30 Europe/Berlin": func(t time.Time) bool {
		// On the night without 02:30, the time is an hour later.
		if _, before := t.Add(-time.Hour).Zone(); at(t, "03:30") {
			_, now := t.Zone()
			return before != now
		}
		return at(t, "02:30") && !second(t)
	},
}

func at(t time.Time, clock string) bool { return t.Format("15:04") == clock }

func hours(t time.Time, from, until int) bool { return from <= t.Hour() && t.Hour() < until }

func weekday(t time.Time) bool { return t.Weekday() != time.Saturday && t.Weekday() != time.Sunday }

// nth counts the days of this weekday in the month, up to this one.
func nth(t time.Time) int { return (t.Day() + 6) / 7 }

func lastDay(t time.Time) bool { return t.AddDate(0, 0, 1).Day() == 1 }

// lastWeekday tells whether no weekday follows in the month.
func lastWeekday(t time.Time) bool {
	for next := t.AddDate(0, 0, 1); next.Month() == t.Month(); next = next.AddDate(0, 0, 1) {
		if weekday(next) {
			return false
		}
	}
	return weekday(t)
}

// second tells whether the clock has shown this time an hour ago already.
func second(t time.Time) bool {
	return t.Add(-time.Hour).Format(time.DateTime) == t.Format(time.DateTime)
}

// daysIn are the days since the first Monday of 2026.
func daysIn(t time.Time) int {
	y, m, d := t.Date()
	return int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Sub(time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)).Hours() / 24)
}
