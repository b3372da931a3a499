package dashboard

import (
	"html/template"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/chart"
	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/plan"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
)

// leastBars are the places of a chart of runs: one bar is not as wide as the page.
const leastBars = 25

// plots draw how long the runs of a task took, and how late they began. They are
// empty if there is nothing to draw.
func plots(prefix string, ticks []figures.TickResult, usual time.Duration, now time.Time, zone *time.Location) (took, late template.HTML) {
	durations := chart.Bars{Name: "How long the runs took", Usual: usual.Seconds(), Least: leastBars}
	delays := chart.Bars{Name: "How late the runs began", Least: leastBars}
	for _, k := range slices.Backward(ticks) {
		due := show.Clock(k.Due, now, zone)
		link := ""
		if k.Own {
			link = frame.Path(prefix, "job", "id", k.JID)
		}
		add := func(to *chart.Bars, value time.Duration, class, title string) {
			if len(to.Bars) == 0 {
				to.From = due
			}
			to.To, to.Bars = due, append(to.Bars, chart.Bar{Value: value.Seconds(), Class: class, Title: due + ": " + title, Link: link})
		}
		if !k.Started.IsZero() && !k.Finished.IsZero() {
			d := k.Finished.Sub(k.Started)
			add(&durations, d, show.Kind(k.State), show.Word(k.State)+", "+span.Exact(d))
		}
		if k.Decision == periodic.Submitted {
			add(&delays, lateness(k), "off", span.Exact(lateness(k))+" late")
		}
	}
	for _, b := range []struct {
		bars chart.Bars
		to   *template.HTML
	}{{durations, &took}, {delays, &late}} {
		if len(b.bars.Bars) > 0 {
			*b.to = template.HTML(b.bars.Durations(round).Draw()) //nolint:gosec // package chart escapes its texts
		}
	}
	return took, late
}

// lateness is from the time of a tick until its job began the attempt that ended, or was submitted, if no more is known.
func lateness(k figures.TickResult) time.Duration {
	return max(later(k.Decided, k.Started).Sub(k.Due), 0)
}

// usual is how long the runs of a task usually take; 0: nobody knows.
func usual(ticks []figures.TickResult) time.Duration {
	var took []time.Duration
	for _, k := range ticks {
		if k.State == "success" && !k.Started.IsZero() && !k.Finished.IsZero() {
			took = append(took, k.Finished.Sub(k.Started))
		}
	}
	if median, known := plan.Usual(took); known {
		return median
	}
	return 0
}

// round writes a round duration.
func round(d time.Duration) string {
	if d < time.Second {
		return span.Exact(d)
	}
	return span.Text(d)
}
