package dashboard

import (
	"context"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/dashboard/internal/chart"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// leastBars are the places of a chart of runs: one bar is not as wide as the page.
const leastBars = 25

// plot is a chart of the runs of a task, and what there is to say of it, or instead of it. It is zero if there are no runs.
type plot struct {
	Drawing template.HTML
	Text    string
}

// durations show how long the runs of a task took.
func durations(prefix string, ticks []view.Run, usual time.Duration, now time.Time, zone *time.Location) plot {
	b := chart.Bars{Name: "How long the runs took", Usual: usual.Seconds(), Least: leastBars}
	var shortest, longest time.Duration
	for i := range slices.Backward(ticks) {
		k := &ticks[i]
		if k.Started.IsZero() || k.Finished.IsZero() {
			continue
		}
		took, due, link := k.Took(), show.Clock(k.Due, now, zone), frame.Path(prefix, "run", "id", k.TaskID, "at", k.Due.Format(time.RFC3339Nano))
		if len(b.Bars) == 0 {
			b.From, shortest = due, took
		}
		longest, shortest = max(longest, took), min(shortest, took)
		b.To, b.Bars = due, append(b.Bars, chart.Bar{Value: took.Seconds(), Class: show.Kind(k.State), Title: due + ": " + show.Word(k.State) + ", " + text.Exact(took), Link: link})
	}
	return plotOf(b, round(shortest) == round(longest), longest)
}

// plotOf is a chart, or a sentence if there is one run only, or all took as long.
func plotOf(b chart.Bars, alike bool, longest time.Duration) (p plot) {
	switch n := len(b.Bars); {
	case n == 0:
		return p
	case n == 1:
		p.Text = "The only one took " + round(longest) + "."
		return p
	case alike:
		p.Text = fmt.Sprintf("All of the last %d took %s.", n, round(longest))
	case n < leastBars: // the first bar is not at the left
		b.From, b.To = "", b.From+" to "+b.To
	}
	b = b.Durations(round)
	p.Drawing = template.HTML(b.Draw()) //nolint:gosec // package chart escapes its texts
	for i, one := range slices.Backward(b.Bars) {
		if one.Value > b.Top {
			p.Text = "The axis is too short for some bars, such as that of " + b.Bars[i].Title + "."
			break
		}
	}
	return p
}

// lateness is from the time of a tick until its job began, or was submitted if that is not known: of a job with
// several attempts, the last one is.
func lateness(k *view.Run) time.Duration {
	began := k.Decided
	if k.Attempts <= 1 && k.Interrupts == 0 {
		began = later(began, k.Started)
	}
	return max(began.Sub(k.Due), 0)
}

// usual is how long the runs of a task usually take; 0: nobody knows.
func usual(ticks []view.Run) time.Duration {
	if usual, known := median(successes(ticks)); known {
		return usual
	}
	return 0
}

// successes are how long the runs took that succeeded.
func successes(runs []view.Run) (took []time.Duration) {
	for i := range runs {
		if r := &runs[i]; r.State == "success" && !r.Started.IsZero() && !r.Finished.IsZero() {
			took = append(took, r.Took())
		}
	}
	return took
}

// took is how long the newest runs of tasks took that succeeded.
func (s *source) took(ctx context.Context, ids []string) (map[string][]time.Duration, error) {
	newest, err := view.Of(s.db).Newest(ctx, ids, taskTicks, periodic.Never)
	of := make(map[string][]time.Duration, len(newest))
	for id, runs := range newest {
		if took := successes(runs); len(took) > 0 {
			of[id] = took
		}
	}
	return of, err
}

// median is how long the runs usually took that took so long. Fewer than three do not tell it.
func median(took []time.Duration) (median time.Duration, known bool) {
	if len(took) == 0 {
		return 0, false
	}
	slices.Sort(took)
	return took[len(took)/2], len(took) >= 3
}

// unusual says how much longer or shorter than usual a job of a task took that succeeded; empty: not much, or nobody knows.
func (s *source) unusual(ctx context.Context, task string, took time.Duration) (string, error) {
	of, err := s.took(ctx, []string{task})
	if normal, known := median(of[task]); known {
		return slower(took, normal), err
	}
	return "", err
}
