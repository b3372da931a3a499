package dashboard

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/chart"
)

// clockChange is a change of the clock, and what a timer does around it.
type clockChange struct {
	At      time.Time     `json:"at"`
	Zone    string        `json:"zone"`
	Text    string        `json:"text"`
	Ticks   []time.Time   `json:"ticks"` // around it
	Marks   []string      `json:"-"`     // local times at the beginning, before and after the change, and at the end
	Drawing template.HTML `json:"-"`
}

// changeAround is how much of the time before a change and after it is drawn, in cells.
const (
	changeAround = 6 * time.Hour
	changeCell   = 15 * time.Minute
	mostNamed    = 12 // ticks
)

// nextChange is the next change of the clock of a timer's zone within a year; nil: there is none,
// or the timer is no one of local times.
func nextChange(s calendar.Schedule, now time.Time) *clockChange {
	zone := calendar.Location(s)
	_, at := now.In(zone).ZoneBounds()
	if at.IsZero() || at.After(now.AddDate(1, 0, 0)) {
		return nil
	}
	local := func(t time.Time) string { return t.In(zone).Format("15:04") }
	// The wall clock just before the change has the offset before it.
	_, before := at.Add(-time.Second).In(zone).Zone()
	_, after := at.In(zone).Zone()
	if before == after { // only the name of the zone changes
		return nil
	}
	old := at.In(time.FixedZone("", before))
	c := &clockChange{At: at, Zone: zone.String(), Ticks: []time.Time{}, Marks: []string{local(at.Add(-changeAround)), old.Format("15:04") + " → " + local(at), local(at.Add(changeAround))}}
	c.Text = fmt.Sprintf("On %s clocks of %s go from %s to %s", at.In(zone).Format("Mon 2 Jan 2006"), zone, old.Format("15:04"), local(at))
	cells := make([]chart.Cell, 2*changeAround/changeCell)
	from, times := at.Add(-changeAround), []string{}
	for t := s.Next(from.Add(-1)); !t.IsZero() && t.Before(at.Add(changeAround)); {
		cell := &cells[t.Sub(from)/changeCell]
		if cell.Class = "plan"; cell.Title != "" {
			cell.Title += ", "
		}
		cell.Title += t.In(zone).Format("15:04:05 MST")
		c.Ticks, times = append(c.Ticks, t), append(times, strings.TrimSuffix(t.In(zone).Format("15:04:05"), ":00"))
		next := t.Truncate(changeCell).Add(changeCell - 1) // one tick in a cell is enough
		t = s.Next(next)
	}
	if len(times) > 0 && len(times) <= mostNamed {
		c.Text += ". Around it the timer elapses at " + strings.Join(times, ", ")
	}
	c.Drawing = template.HTML(chart.Strip(c.Text, cells)) //nolint:gosec // package chart escapes its texts
	return c
}
