package dashboard

import (
	"context"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/dashboard/internal/chart"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// tickRow is a tick in the table, and those before it that went on alike: the same again, or the same two in turn.
type tickRow struct {
	shownRun

	Same  []shownRun
	Words string // how many there are of each state
	Cut   bool   // there may be more of them
}

// readTicks adds a page of the table of ticks.
func (d *taskView) readTicks(ctx context.Context, s *server, runs []view.Run, until string, zone *time.Location) (err error) {
	normal := usual(successes(runs))
	if normal > 0 {
		d.Usual = round(normal)
	}
	if until != "" {
		if d.Until, err = time.Parse(time.RFC3339, until); err != nil {
			return frame.Bad("until is %q; use a time such as 2026-12-24T08:00:00Z", show.Printable(until))
		}
		before, err := view.Of(s.db).Newest(ctx, []string{d.Row.ID}, taskTicks, d.Until)
		if err != nil {
			return err
		}
		runs = before[d.Row.ID]
	}
	cells := make([]shownRun, len(runs))
	for i := range runs {
		c, k := &cells[i], &runs[i]
		*c = s.run(k, zone)
		if late := lateness(k); late >= lateLong && c.Took != "" {
			c.Late = "began " + text.Text(late) + " late"
		} else if again := k.Started.Sub(k.Due); c.Attempts+c.Lost > 1 && c.State == "success" && again >= lateLong {
			c.Late = "began again " + text.Text(again) + " after it was due"
		}
		c.Slow = slower(k.Took(), normal)
	}
	for len(d.Ticks) < len(cells) && len(d.Rows) < tableTicks {
		rest := cells[len(d.Ticks):]
		shown, n := folded(rest)
		for i := range shown {
			d.Rows = append(d.Rows, tickRow{shownRun: rest[i]})
		}
		if n > shown {
			last := &d.Rows[len(d.Rows)-1]
			last.Same, last.Words, last.Cut = rest[shown:n], inWords(rest[shown:n]), len(d.Ticks)+n == taskTicks
		}
		d.Ticks = append(d.Ticks, rest[:n]...)
	}
	if n := len(d.Ticks); n > 0 && (n < len(cells) || n == taskTicks) {
		d.Older = d.Ticks[n-1].Due
	}
	return nil
}

// leastFolded is how many ticks are folded at least.
const leastFolded = 3

// folded is how many of the first ticks stand in the table, and how many go on as these.
func folded(cells []shownRun) (shown, n int) {
	for shown = 1; shown <= 2; shown++ {
		for n = shown; n < len(cells) && alike(&cells[n-shown], &cells[n]); n++ {
		}
		if n >= shown+leastFolded-1 {
			return shown, n
		}
	}
	return 1, 1
}

// alike reports whether there is nothing to say of a tick but what there is of another one.
func alike(a, b *shownRun) bool {
	return a.State == b.State && a.Why == b.Why && a.Hand == "" && b.Hand == "" && a.Slow+b.Slow+a.Late+b.Late == "" && a.Attempts == b.Attempts && a.Lost == b.Lost
}

// inWords counts ticks by their states, such as "8 × skipped, 9 × success".
func inWords(cells []shownRun) string {
	var words []string
	for _, state := range []string{cells[0].State, cells[1].State} {
		n := 0
		for i := range cells {
			if cells[i].State == state {
				n++
			}
		}
		if one := fmt.Sprintf("%d × %s", n, show.Word(state)); !slices.Contains(words, one) {
			words = append(words, one)
		}
	}
	return strings.Join(words, ", ")
}

// slower says how much longer or shorter than usual a run took; empty: not much, or nobody knows.
func slower(took, normal time.Duration) string {
	if took == 0 || normal == 0 {
		return ""
	}
	times := took.Seconds() / normal.Seconds()
	switch {
	case times < 0.1 && normal-took > 10*time.Second:
		return "usually " + text.Text(normal)
	case times < 1.5 || took-normal < time.Second:
		return ""
	}
	return fmt.Sprintf("%.1f × the usual", times)
}

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
	var first, last time.Time
	for i := range slices.Backward(ticks) {
		k := &ticks[i]
		if k.Started.IsZero() || k.Finished.IsZero() {
			continue
		}
		took, link := k.Took(), frame.Path(prefix, "run", "id", k.TaskID, "at", k.Due.Format(time.RFC3339Nano))
		if len(b.Bars) == 0 {
			first, shortest = k.Due, took
		}
		longest, shortest = max(longest, took), min(shortest, took)
		title := show.Clock(k.Due, now, zone) + ": " + show.Word(k.State) + ", " + text.Exact(took)
		last, b.Bars = k.Due, append(b.Bars, chart.Bar{Value: took.Seconds(), Class: show.Kind(k.State), Title: title, Link: link})
	}
	b.From, b.To = show.Range(first, last, now, zone)
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

// median is the middle of how long runs took; 0: there are none.
func median(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// usual is how long the runs usually take of which some took so long; 0: fewer than three do not tell it.
func usual(took []time.Duration) time.Duration {
	if len(took) < 3 {
		return 0
	}
	return median(took)
}
