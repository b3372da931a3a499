package dashboard

import (
	"context"
	"fmt"
	"html/template"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard/internal/chart"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
)

// A strip has the last day in cells of half an hour. Of a task that runs every few seconds, only
// so many ticks are looked at, and the cells before them are not known.
const (
	stripCells = 48
	cellTime   = 30 * time.Minute
	stripTime  = stripCells * cellTime
	stripMost  = 4000
)

// firstCell is when the strip begins whose last cell has a time in it.
func firstCell(now time.Time) time.Time { return now.Truncate(cellTime).Add(cellTime - stripTime) }

// dayCell is what became of the ticks of half an hour.
type dayCell struct {
	From   time.Time `json:"from"`
	Ticks  int       `json:"ticks"`
	Failed int       `json:"failed,omitempty"`
	Worst  string    `json:"worst"`
}

// days adds the strips of the last day to tasks.
func (s *source) days(ctx context.Context, rows []taskRow, now time.Time, zone *time.Location) error {
	from := firstCell(now)
	periods := make([]view.Period, stripCells)
	for i := range periods {
		periods[i] = view.Period{Begin: from.Add(time.Duration(i) * cellTime), End: from.Add(time.Duration(i+1) * cellTime)}
	}
	ids, index := make([]string, len(rows)), make(map[string]int, len(rows))
	for i := range rows {
		ids[i], index[rows[i].ID] = rows[i].ID, i
	}
	outcomes, err := view.Of(s.db).Outcomes(ctx, ids, periods, stripMost)
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		r := &rows[index[o.TaskID]]
		r.known++
		if o.Ticks > 0 {
			r.Day = append(r.Day, dayCell{o.Begin, o.Ticks, o.Failed, o.Worst})
		}
	}
	for i := range rows {
		rows[i].Strip = drawDay(s.prefix, &rows[i], from, zone)
	}
	return nil
}

// drawDay draws the last day of a task.
func drawDay(prefix string, r *taskRow, from time.Time, zone *time.Location) template.HTML {
	cells := make([]chart.Cell, stripCells)
	for i := range stripCells - r.known {
		cells[i] = chart.Cell{Class: "unknown", Title: "not looked at: there are too many ticks"}
	}
	ticks, wrong, page := 0, 0, frame.Path(prefix, "task", "id", r.ID)+"&until="
	for _, c := range r.Day {
		cell := &cells[c.From.Sub(from)/cellTime]
		cell.Class, cell.Title = show.Kind(c.Worst), c.From.In(zone).Format("15:04")+": "+c.words()
		cell.Link = page + c.From.UTC().Add(cellTime).Format("2006-01-02T15:04:05Z") + "#history"
		ticks += c.Ticks
		if cell.Loud = cell.Class == "bad" || cell.Class == "warn"; cell.Loud {
			wrong++
		}
	}
	name := fmt.Sprintf("24 hours: %s, %d of %d half hours with trouble", count(ticks, "tick"), wrong, len(r.Day))
	return template.HTML(chart.Strip(name, cells)) //nolint:gosec // package chart escapes its texts
}

// words says what became of the ticks of a cell.
func (c dayCell) words() string {
	switch {
	case c.Failed > 0 && c.Failed < c.Ticks:
		return show.Number(c.Failed) + " of " + show.Number(c.Ticks) + " failed"
	case c.Worst == "success":
		return show.Number(c.Ticks) + " succeeded"
	case c.Ticks > 1:
		return show.Number(c.Ticks) + ", the worst " + show.Word(c.Worst)
	}
	return show.Word(c.Worst)
}
