package dashboard

import (
	"fmt"
	"html/template"
	"time"

	"github.com/nextrun/nextrun/internal/chart"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/dashboard/internal/show"
	"github.com/nextrun/nextrun/store"
)

// plots draw how long the runs of a task took, and how late they were submitted. They are
// empty if there is nothing to draw.
func plots(ticks []store.TickResult, zone *time.Location) (took, late template.HTML) {
	var durations, delays []chart.Point
	for i := len(ticks) - 1; i >= 0; i-- {
		k := ticks[i]
		due := k.Due.In(zone)
		if !k.Started.IsZero() && !k.Finished.IsZero() {
			d := k.Finished.Sub(k.Started)
			durations = append(durations, chart.Point{At: due, Value: d, Class: k.State, Title: show.Moment(k.Due, zone) + ": " + k.State + ", " + span.Exact(d)})
		}
		if k.Decision == periodic.Submitted {
			d := max(k.Decided.Sub(k.Due), 0)
			delays = append(delays, chart.Point{At: due, Value: d, Class: "planned", Title: show.Moment(k.Due, zone) + ": " + span.Exact(d) + " late"})
		}
	}
	if len(durations) > 0 {
		took = template.HTML(chart.Plot("Durations", durations, span.Exact)) //nolint:gosec // package chart escapes its texts
	}
	if len(delays) > 0 {
		late = template.HTML(chart.Plot("Lateness", delays, span.Exact)) //nolint:gosec // as above
	}
	return took, late
}

// mostOfYear is how many ticks to come are counted.
const mostOfYear = 600_000

// yearDay is a day in the drawing of a year.
type yearDay struct {
	past, coming int
	class        string
}

// year draws the ticks of a task around now: those of half a year that are known, and
// those that the next half brings.
func year(t *periodic.Task, ticks []store.TickResult, zone *time.Location, now time.Time) template.HTML {
	days := map[string]*yearDay{}
	at := func(when time.Time) *yearDay {
		key := when.In(zone).Format(time.DateOnly)
		if days[key] == nil {
			days[key] = &yearDay{}
		}
		return days[key]
	}
	for _, k := range ticks {
		at(k.Due).add(k)
	}
	n := 0
	for u := range periodic.Preview([]periodic.Task{*t}, now, now.AddDate(0, 6, 0)) {
		if n++; n > mostOfYear {
			break
		}
		at(u.Due).coming++
	}
	if len(days) == 0 {
		return ""
	}
	start := now.In(zone).AddDate(0, -6, 0)
	start = time.Date(start.Year(), start.Month(), start.Day(), 12, 0, 0, 0, zone)
	drawing := chart.Year(start, func(date time.Time) chart.Day {
		d := days[date.Format(time.DateOnly)]
		if d == nil {
			return chart.Day{Title: "no tick"}
		}
		return chart.Day{Count: d.coming, Class: d.class, Title: fmt.Sprintf("%d ticks decided, %d planned", d.past, d.coming)}
	})
	return template.HTML(drawing) //nolint:gosec // package chart escapes its texts
}

// add counts a tick. The worst run of a day gives its colour.
func (d *yearDay) add(k store.TickResult) {
	d.past += max(k.Missed, 1)
	if k.State == "failed" || k.State == "success" && d.class == "" {
		d.class = k.State
	}
}
