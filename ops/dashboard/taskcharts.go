package dashboard

import (
	"context"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/chart"
	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/plan"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
)

// leastBars are the places of a chart of runs: one bar is not as wide as the page. Up to onTime a run is on time for people.
const (
	leastBars = 25
	onTime    = time.Second
)

// charts are the drawings of the page of a task.
type charts struct {
	History, Year template.HTML // the newest ticks, and the days as a calendar
	Newest        string        // how many ticks the first one shows
	Took, Late    plot          // how long the runs took, and how late they began
}

// plot is a chart of the runs of a task, and what there is to say of it, or instead of it. It is zero if there are no runs.
type plot struct {
	Drawing template.HTML
	Text    string
}

// plots show how long the runs of a task took, and how late they began.
func plots(prefix string, ticks []figures.TickResult, usual time.Duration, now time.Time, zone *time.Location) (took, late plot) {
	durations := chart.Bars{Name: "How long the runs took", Usual: usual.Seconds(), Least: leastBars}
	delays := chart.Bars{Name: "How late the runs began", Least: leastBars, Floor: onTime.Seconds()}
	var shortest, longest, latest, again time.Duration
	repeated := 0
	for i := range slices.Backward(ticks) {
		k := &ticks[i]
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
			if longest = max(longest, d); len(durations.Bars) == 0 || d < shortest {
				shortest = d
			}
			add(&durations, d, show.Kind(k.State), show.Word(k.State)+", "+span.Exact(d))
		}
		if k.Decision == periodic.Submitted {
			d, class := lateness(*k), "off"
			if latest = max(latest, d); d >= lateLong {
				class = "warn"
			}
			if after := k.Started.Sub(k.Due); k.Retries+k.Lost > 0 && after-d > onTime {
				repeated, again = repeated+1, max(again, after)
			}
			add(&delays, d, class, span.Exact(d)+" late")
		}
	}
	took, late = plotOf(durations, round(shortest) == round(longest), "took "+span.Exact(longest)),
		plotOf(delays, latest <= onTime, "began within "+span.Exact(max(latest, time.Millisecond))+" of the due time")
	if repeated > 0 {
		late.Text = strings.TrimSpace(late.Text + fmt.Sprintf(" These are first attempts: %s began again, up to %s after the due time.", count(repeated, "run"), round(again)))
	}
	return took, late
}

// plotOf is a chart, or a sentence if there is one run only, or all are alike: it says what they did.
func plotOf(b chart.Bars, alike bool, did string) (p plot) {
	switch n := len(b.Bars); {
	case n == 0:
		return p
	case n == 1:
		p.Text = "The only run " + did + "."
		return p
	case alike:
		p.Text = fmt.Sprintf("All of the last %d runs %s.", n, did)
		return p
	case n < leastBars: // the first bar is not at the left
		b.From, b.To = "", b.From+" to "+b.To
	}
	b = b.Durations(round)
	p.Drawing = template.HTML(b.Draw()) //nolint:gosec // package chart escapes its texts
	if b.Usual > 0 {
		p.Text = "The dashed line is the usual duration."
	}
	if slices.ContainsFunc(b.Bars, func(one chart.Bar) bool { return one.Class == "bad" }) {
		p.Text += " A bar with a foot below the axis is a run that failed."
	}
	for i, one := range slices.Backward(b.Bars) {
		if one.Value > b.Top {
			p.Text += " The axis is too short for some bars, such as that of " + b.Bars[i].Title + "."
			break
		}
	}
	return p
}

// lateness is from the time of a tick until its job began, or was submitted if that is not known: of a job with
// several attempts, the last one is.
func lateness(k figures.TickResult) time.Duration {
	began := k.Decided
	if k.Retries+k.Lost == 0 {
		began = later(began, k.Started)
	}
	return max(began.Sub(k.Due), 0)
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

// unusual says how much longer or shorter than usual a job of a task took that succeeded; empty: not much, or nobody knows.
func (s *source) unusual(ctx context.Context, task string, took time.Duration) (string, error) {
	of, err := figures.Of(s.db).Took(ctx, []string{task}, taskTicks, "success")
	if normal, known := plan.Usual(of[task]); known {
		return slower(took, normal), err
	}
	return "", err
}

// round writes a round duration.
func round(d time.Duration) string {
	if d < time.Second {
		return span.Exact(d)
	}
	return span.Text(d)
}
