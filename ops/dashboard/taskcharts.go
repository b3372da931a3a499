package dashboard

import (
	"html/template"
	"time"

	"github.com/nextrun/nextrun/internal/chart"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
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
			durations = append(durations, chart.Point{At: due, Value: d, Class: k.State, Title: show.Moment(k.Due, zone) + ": " + show.Word(k.State) + ", " + span.Exact(d)})
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
