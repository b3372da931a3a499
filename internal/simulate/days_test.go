package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

// dayCase is a task with calendars, and the days for which it is asked.
type dayCase struct {
	task     periodic.Task
	rows     []days.Row
	from, to time.Time
	parsed   map[string]calendar.Schedule
}

func (c dayCase) String() string {
	text := fmt.Sprintf("timer %q, exclude %q, run %q, on_excluded %s, from %s", c.task.Timer, c.task.Days.Exclude,
		c.task.Days.Run, c.task.Days.OnExcluded, c.from.Format(time.RFC3339))
	for _, r := range c.rows {
		text += fmt.Sprintf("\n\t%s %s, scope %q, once %v, since %s", r.Name, r.When(), r.Scope, r.Once, r.Since.Format(time.DateTime))
	}
	for _, o := range c.task.Days.Overrides {
		text += "\n\t" + o.Due.Format(time.DateTime) + " to " + o.To.Format(time.DateTime)
	}
	return text
}

// randomDays makes a case of random rows, timer and policy.
func randomDays(r *rand.Rand) dayCase {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, r.IntN(2000))
	c := dayCase{from: begin, to: begin.AddDate(0, 0, 100), parsed: map[string]calendar.Schedule{}}
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	c.task = periodic.NewTask("t", "x", "")
	c.task.Overlap = periodic.OverlapAllow
	c.task.Days.OnExcluded = days.OnExcluded(pick("skip", "next", "previous"))
	zone := pick("", " Europe/Berlin", " America/New_York", " Asia/Kolkata")
	c.task.Timer = pick("*-*-* 09:00", "Mon..Fri 12:30", "*-*-1,15 23:00", "Sat,Sun 05:00:30", "*-*-* 00:00", "Mon *-*-1..7 08:00") + zone
	if c.task.Days.OnExcluded == days.Skip && r.IntN(3) > 0 {
		c.task.Timer = pick("hourly", "*:0/20", "Mon..Fri 6..20:15") + zone
	}
	for range 1 + r.IntN(12) {
		row := days.Row{Name: pick("a", "b", "c"), First: begin.AddDate(0, 0, r.IntN(140)-20), Reason: pick("", "r", "holiday")}
		switch r.IntN(4) {
		case 0:
			row.Last = row.First.AddDate(0, 0, r.IntN(12))
		case 1:
			row.First = time.Time{}
			row.Timer, row.Length = pick("Mon..Fri 08:00", "Sat 00:00 UTC", "*-*-5 10:00", "0 9 * * 3"), time.Duration(1+r.IntN(30))*time.Hour
		}
		c.rows = append(c.rows, row)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(c.rows, func(r days.Row) bool { return r.Name == name })
	}
	for _, name := range []string{"a", "b"} {
		if has(name) {
			c.task.Days.Exclude += name + ", "
		}
	}
	if has("c") && r.IntN(2) == 0 {
		c.task.Days.Run = "c"
	}
	c.rows = append(c.rows, randomWindows(r, begin)...)
	c.task.Group = "g"
	c.task.Days.Calendars = days.NewCalendars(c.rows)
	c.override(r)
	return c
}

// covers is the slow, obvious rule: does a row of the calendars hold at a time?
func (c dayCase) covers(t *testing.T, list string, at time.Time, zone *time.Location) bool {
	names := map[string]bool{}
	for _, name := range days.Names(list) {
		names[name] = true
	}
	for _, row := range c.rows {
		if !names[row.Name] {
			continue
		}
		if row.Timer == "" {
			y, m, d := at.In(zone).Date()
			if day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC); day.Equal(row.First) || day.After(row.First) && !day.After(row.Last) {
				return true
			}
			continue
		}
		timer := row.Timer + " " + zone.String()
		if strings.HasSuffix(row.Timer, "UTC") || strings.Contains(row.Timer, "/") {
			timer = row.Timer
		} else if row.Timer[0] == '0' {
			timer = "CRON_TZ=" + zone.String() + " " + row.Timer
		}
		s, err := c.parsed[timer], error(nil)
		if s == nil {
			s, err = calendar.Parse(timer)
			c.parsed[timer] = s
		}
		if err != nil {
			t.Fatal(err)
		}
		for begin := s.Next(at.Add(-60 * time.Hour)); !begin.IsZero() && !begin.After(at); begin = s.Next(begin) {
			if at.Before(begin.Add(row.Length)) {
				return true
			}
		}
	}
	return false
}

// obvious computes the ticks by going from day to day.
func (c dayCase) obvious(t *testing.T) (lines []string) {
	timer, err := calendar.Parse(c.task.Timer)
	if err != nil {
		t.Fatal(err)
	}
	zone := calendar.Location(timer)
	allowed := func(at time.Time) bool {
		return !c.covers(t, c.task.Days.Exclude, at, zone) && (c.task.Days.Run == "" || c.covers(t, c.task.Days.Run, at, zone))
	}
	step := map[days.OnExcluded]int{days.Next: 1, days.Previous: -1}[c.task.Days.OnExcluded]
	taken := map[time.Time]time.Time{} // where a tick takes place, and when the timer elapses
	var left []time.Time
	var elapses []time.Time
	for at := timer.Next(c.from.AddDate(0, 0, -30-370*max(step, -step)).Add(-time.Microsecond)); at.Before(c.to.AddDate(0, 0, 370*max(step, -step))); at = timer.Next(at) {
		elapses = append(elapses, at)
	}
	for _, at := range elapses {
		if allowed(at) {
			taken[at] = at
		}
	}
	if step > 0 { // the nearest first
		slices.Reverse(elapses)
	}
	for _, at := range elapses {
		if allowed(at) {
			continue
		}
		local, to := at.In(zone), time.Time{}
		for n := 1; step != 0 && n <= 366 && to.IsZero(); n++ {
			day := time.Date(local.Year(), local.Month(), local.Day()+n*step, local.Hour(), local.Minute(), local.Second(), 0, zone).UTC()
			if allowed(day) {
				to = day
			}
		}
		if _, meets := taken[to]; to.IsZero() || meets {
			left = append(left, at)
		} else {
			taken[to] = at
		}
	}
	left = append(left, c.hold(t, taken, allowed)...)
	taken, left = c.overridden(taken, left)
	for due, nominal := range taken {
		line := due.Format(time.DateTime) + " submitted"
		if !nominal.Equal(due) {
			line += " of " + nominal.Format(time.DateTime)
		}
		lines = append(lines, line)
	}
	for _, at := range left {
		lines = append(lines, at.Format(time.DateTime)+" skipped")
	}
	lines = slices.DeleteFunc(lines, func(l string) bool {
		return l < c.from.Format(time.DateTime) || l >= c.to.Format(time.DateTime)
	})
	slices.Sort(lines)
	return lines
}

// decided are the ticks as a scheduler decides them that looks at random moments.
func (c dayCase) decided(t *testing.T, r *rand.Rand) (lines []string) {
	task := c.task
	timer, err := calendar.Parse(task.Timer)
	if err != nil {
		t.Fatal(err)
	}
	task.Catchup = periodic.CatchupAll
	first, err := task.Upcoming(c.from.Add(-time.Microsecond), 1)
	if err != nil || len(first) == 0 {
		t.Fatal(err, c)
	}
	task.Due, task.NextRun = first[0].Due, first[0].NextRun
	for now := c.from; now.Before(c.to); now = now.Add(time.Duration(r.Int64N(int64(48 * time.Hour)))) {
		for !task.NextRun.After(now) {
			plan := decide.Decide(&task, timer, decide.Facts{Now: now}, func(time.Time) string { return "j" })
			for _, tick := range plan.Ticks {
				lines = append(lines, tickLine(tick.Due, tick.Nominal, tick.Decision == periodic.Skipped))
			}
			task.Due, task.NextRun = plan.Due, plan.NextRun
		}
	}
	return lines
}
