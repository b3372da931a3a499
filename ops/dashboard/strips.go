package dashboard

import (
	"context"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/dashboard/internal/chart"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
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

// outcomes are what may become of a tick, the worst last.
var outcomes = []string{"success", "submitted", "unknown", "scheduled", "running", "waiting", "skipped", "cancelled", "stuck", "late", "missed", "failed"}

// add adds ticks of a cell that ended alike.
func (c *dayCell) add(became string, ticks int) {
	if c.Ticks += ticks; became == "failed" {
		c.Failed += ticks
	}
	if slices.Index(outcomes, became) >= slices.Index(outcomes, c.Worst) {
		c.Worst = became
	}
}

// days adds the strips of the last day to tasks.
func (s *source) days(ctx context.Context, rows []taskRow, now time.Time, zone *time.Location) error {
	ids, of, from := make([]string, len(rows)), make(map[string]*taskRow, len(rows)), firstCell(now)
	for i := range rows {
		ids[i], of[rows[i].ID] = rows[i].ID, &rows[i]
	}
	if err := s.readDays(ctx, ids, of, from); err != nil {
		return err
	}
	for i := range rows {
		rows[i].Strip = drawDay(s.prefix, &rows[i], from, zone)
	}
	return nil
}

func (s *source) readDays(ctx context.Context, ids []string, of map[string]*taskRow, from time.Time) error {
	var rows []struct {
		TaskID        string `db:"task_id"`
		First, Oldest sqldb.RowTime
		Became        string
		Ticks         int
	}
	err := sqldb.Of(s.db).View(ctx, func(tx *sqldb.Tx) error {
		asked, err := tx.Texts(1, ids)
		if err != nil {
			return err
		}
		cell := `floor(extract(epoch FROM k.due) / $4)`
		if tx.SQL().IsSQLite() {
			cell = `CAST(strftime('%s', k.due) AS integer) / $4`
		}
		return tx.Select(ctx, &rows, `WITH t AS MATERIALIZED (SELECT v.value AS id, coalesce((SELECT l.due FROM periodic_tick AS l
					WHERE l.task_id = v.value AND l.due >= $3 AND l.due < $5 AND l.decided IS NOT NULL ORDER BY l.due DESC LIMIT 1 OFFSET $2), $3) AS oldest FROM `+asked.SQL+` AS v)
			SELECT k.task_id, t.oldest, min(k.due) AS first, coalesce(nullif(k.state, 'pending'), k.decision) AS became,
				sum(CASE WHEN k.missed > 1 THEN k.missed WHEN k.missed < 0 THEN 10000 ELSE 1 END) AS ticks
			FROM t JOIN periodic_run AS k ON k.task_id = t.id AND k.due >= t.oldest AND k.due < $5 GROUP BY k.task_id, t.oldest, `+cell+`, 4 ORDER BY 1, 3`,
			asked.Param, stripMost, sqldb.Timestamp(from), int(cellTime.Seconds()), sqldb.Timestamp(from.Add(stripTime)))
	})
	if err != nil {
		return fmt.Errorf("read what became of the ticks of a day: %w", err)
	}
	for _, row := range rows {
		r, begin := of[row.TaskID], row.First.Time().Truncate(cellTime)
		if r.unknown = int((row.Oldest.Time().Sub(from) + cellTime - 1) / cellTime); begin.Before(row.Oldest.Time()) {
			continue // it is not whole
		}
		if n := len(r.Day); n == 0 || !r.Day[n-1].From.Equal(begin) {
			r.Day = append(r.Day, dayCell{From: begin})
		}
		r.Day[len(r.Day)-1].add(row.Became, row.Ticks)
	}
	return nil
}

// drawDay draws the last day of a task.
func drawDay(prefix string, r *taskRow, from time.Time, zone *time.Location) template.HTML {
	cells := make([]chart.Cell, stripCells)
	for i := range r.unknown {
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
