package plan

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/explain"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// timerElapses is how many times of a timer the page shows.
const timerElapses = 12

// timersView is the page that says what a timer means. It needs no task.
type timersView struct {
	Timer     string             `json:"timer"`
	Words     string             `json:"timer_in_words,omitempty"`
	Error     string             `json:"error,omitempty"`
	Place     string             `json:"-"` // the timer, and a caret under what is wrong
	Notations []explain.Notation `json:"notations"`
	Elapses   []time.Time        `json:"elapses"`
	Changes   []clockChange      `json:"clock_changes"`
	Findings  []explain.Finding  `json:"lint"` // those that no change of the clock is to blame for
	Own       *time.Location     `json:"-"`    // the zone that the timer names
}

// clockChange is a change of the clock in the zone of a timer, and what it does to it.
type clockChange struct {
	At       time.Time         `json:"at"`
	Text     string            `json:"text"`
	Findings []explain.Finding `json:"lint"`
}

// Examples are timers of each kind, and what they mean.
func (timersView) Examples() (list [][2]string) {
	for _, timer := range []string{"*-*-* 02:00 Europe/Berlin", "Mon..Fri 08:30 America/New_York", "*-*~1 23:00", "Sat *-*-1..7 18:00", "*:0/15", "*-01,07-01",
		"0 2 * * *", "*/20 8-17 * * 1-5", "CRON_TZ=America/New_York 0 9 1W * *", "every 36h from 2026-01-05T08:00:00Z", "every 2 weeks from 2026-01-05T08:00:00Z"} {
		if schedule, err := calendar.Parse(timer); err == nil {
			list = append(list, [2]string{timer, explain.Schedule(schedule)})
		}
	}
	return list
}

// Day is a time with all that tells its day.
func (timersView) Day(t time.Time, zone *time.Location) string {
	return strings.TrimSuffix(t.In(zone).Format("Mon 2 Jan 2006, 15:04:05"), ":00")
}

// Calm are the changes of the clock that change nothing.
func (d timersView) Calm() (list []clockChange) {
	for _, c := range d.Changes {
		if len(c.Findings) == 0 {
			list = append(list, c)
		}
	}
	return list
}

// Timers is the page that says what a timer means.
func (s Pages) Timers(_ context.Context, r *http.Request) (any, error) {
	timer := r.URL.Query().Get("timer")
	d := timersView{Timer: show.Printable(show.Shorten(timer, calendar.MaxLength)), Notations: []explain.Notation{}, Elapses: []time.Time{}, Changes: []clockChange{}, Findings: []explain.Finding{}}
	if timer == "" {
		return d, nil
	}
	now := s.Now().UTC().Truncate(time.Second)
	schedule, err := calendar.ParseAt(timer, now)
	if err != nil {
		d.Error, d.Place = show.Printable(err.Error()), show.Place(err)
		return d, nil
	}
	d.Words, d.Own = explain.Schedule(schedule), calendar.Location(schedule)
	if d.Own.String() == frame.Zone(r).String() {
		d.Own = nil
	}
	d.Notations = explain.Notations(schedule, now)
	for t := schedule.Next(now); !t.IsZero() && len(d.Elapses) < timerElapses; t = schedule.Next(t) {
		d.Elapses = append(d.Elapses, t)
	}
	for _, c := range explain.Changes(schedule, now) {
		before, after, way := c.At.Add(c.From), c.At.Add(c.To), "forward" // what the clock shows
		if c.To < c.From {
			way = "back"
		}
		d.Changes = append(d.Changes, clockChange{c.At, fmt.Sprintf("%s: the clock of %s goes %s from %s to %s",
			before.Format("Mon 2 Jan 2006"), c.Zone, way, before.Format("15:04"), after.Format("15:04")), []explain.Finding{}})
	}
	for _, f := range explain.Lint(schedule, now, 0) {
		d.sort(f)
	}
	return d, nil
}

// sort puts a finding to the change of the clock that it is about.
func (d *timersView) sort(f explain.Finding) {
	for i := range d.Changes {
		if c := &d.Changes[i]; !f.At.IsZero() && f.At.Sub(c.At).Abs() < 24*time.Hour {
			c.Findings = append(c.Findings, f)
			return
		}
	}
	d.Findings = append(d.Findings, f)
}
