package dashboard

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
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
	normal := usual(runs)
	if normal > 0 {
		d.Usual = text.Exact(normal)
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
		c.Slow = unusual(k, normal)
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

// unusual says how much longer or shorter than usual a run took; empty: not much.
func unusual(k *view.Run, normal time.Duration) string {
	if normal == 0 || k.Took() == 0 {
		return ""
	}
	return slower(k.Took(), normal)
}

func slower(took, normal time.Duration) string {
	times := took.Seconds() / normal.Seconds()
	switch {
	case times < 0.1 && normal-took > 10*time.Second:
		return "usually " + text.Text(normal)
	case times < 1.5 || took-normal < time.Second:
		return ""
	}
	return fmt.Sprintf("%.1f × the usual", times)
}
