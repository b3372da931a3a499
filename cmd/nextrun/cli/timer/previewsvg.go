package timer

import (
	"fmt"
	"io"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/chart"
)

// Bounds of a drawing.
const (
	drawnTicks   = 20_000
	drawnTasks   = 60
	calendarFrom = 14 * 24 * time.Hour // a longer preview is drawn as a calendar
)

// drawPreview writes the ticks as SVG: a timeline with a row for each task, or for more
// than two weeks a calendar.
func drawPreview(env *ui.Env, lines []previewLine, total int, from, to time.Time) error {
	var drawing string
	if to.Sub(from) > calendarFrom {
		drawing = calendarOf(env, lines, from)
	} else {
		t, left := timelineOf(env, lines, from, to)
		if left > 0 {
			env.Complain("not drawn: %s", ui.Counted(left, "more task"))
		}
		drawing = t.Draw()
	}
	if more := total - len(lines); more > 0 {
		env.Complain("not drawn: %s", ui.Counted(more, "more tick"))
	}
	_, err := io.WriteString(env.Stdout, chart.File(drawing))
	return err
}

// drawnAs is the class of a tick by what --with makes of it.
var drawnAs = map[string]string{"": "planned", "+": "success", "-": "failed"}

func timelineOf(env *ui.Env, lines []previewLine, from, to time.Time) (t chart.Timeline, left int) {
	t = chart.Timeline{From: from, To: to, Zone: env.Zone}
	rows, leftOut := map[string]int{}, map[string]bool{}
	for _, line := range lines {
		i, known := rows[line.ID]
		if !known && len(t.Rows) == drawnTasks {
			leftOut[line.ID] = true
			continue
		}
		if !known {
			i = len(t.Rows)
			rows[line.ID] = i
			t.Rows = append(t.Rows, chart.Row{Name: ui.Printable(line.ID)})
		}
		t.Rows[i].Runs = append(t.Rows[i].Runs, chart.Run{From: line.NextRun, To: line.NextRun, Class: drawnAs[line.Change],
			Title: line.Change + ui.Printable(line.ID) + ", " + env.Moment(line.NextRun)})
	}
	return t, len(leftOut)
}

func calendarOf(env *ui.Env, lines []previewLine, from time.Time) string {
	counts := map[string]int{}
	for _, line := range lines {
		if line.Change != "-" {
			counts[line.NextRun.In(env.Zone).Format(time.DateOnly)]++
		}
	}
	start := from.In(env.Zone)
	start = time.Date(start.Year(), start.Month(), start.Day(), 12, 0, 0, 0, env.Zone)
	return chart.Year(start, func(day time.Time) chart.Day {
		n := counts[day.Format(time.DateOnly)]
		return chart.Day{Count: n, Title: fmt.Sprintf("ticks: %d", n)}
	})
}
