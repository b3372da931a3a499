package plan

import (
	"context"
	"html/template"
	"time"

	"github.com/nextrun/nextrun/internal/chart"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// timelineRow is a task or a group.
type timelineRow struct {
	Name    string        `json:"name"`
	Ran     float64       `json:"runs"`
	Failed  float64       `json:"failed"`
	Planned float64       `json:"planned"`
	Usual   string        `json:"usually_takes,omitempty"`
	Cells   []chart.Level `json:"cells"` // load is how many run at once, on average
	Link    string        `json:"-"`
	Drawing template.HTML `json:"-"`
}

// fill reads what ran and computes what will.
func (d *timelineView) fill(ctx context.Context, s Pages) (err error) {
	var past store.Sample
	until := d.To
	if d.now.Before(until) {
		until = d.now
	}
	if d.From.Before(until) {
		if past, err = s.DB.Figures().Sample(ctx, d.From, until, d.most(), d.Group); err != nil {
			return err
		}
	}
	d.OneIn = max(past.Weight, 1)
	tasks, err := s.Tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskEnabled, Group: d.Group, Limit: aheadTasks, Slim: true})
	if err != nil {
		return err
	}
	d.Cut = len(tasks) == aheadTasks
	if d.Places, err = s.places(ctx); err != nil {
		return err
	}
	usual := durationsOf(past.Runs)
	d.Grouped = d.Group == "" && manyOf(tasks, past.Runs)
	d.All = &timelineRow{Name: "all at once", Cells: make([]chart.Level, timelineCells)}
	for _, run := range past.Runs {
		name := run.TaskID
		if d.Grouped {
			name = run.Group
		}
		d.ran(name, run)
	}
	from := d.From
	if from.Before(d.now) {
		from = d.now
	}
	for _, k := range kinOf(tasks, usual, func(t *periodic.Task) string { return d.nameOf(t) }) {
		row, took := d.row(d.nameOf(k.Task)), k.work/time.Duration(len(k.ids))
		if _, known := usual.of(k.Task); known && !d.Grouped {
			row.Usual = span.Exact(took)
		}
		k.each(d.now, from, d.To, func(at time.Time, ticks, _ float64) {
			n := ticks * float64(len(k.ids))
			row.Planned += n
			d.add(row, at, at.Add(took), n, "plan", false)
		})
	}
	return nil
}

// manyOf reports whether there are more tasks than rows, in more than one group.
func manyOf(tasks []periodic.Task, runs []store.SampledRun) bool {
	ids, groups := map[string]bool{}, map[string]bool{}
	for i := range tasks {
		ids[tasks[i].ID], groups[tasks[i].Group] = true, true
	}
	for _, run := range runs {
		ids[run.TaskID], groups[run.Group] = true, true
	}
	return len(ids) > timelineRows && len(groups) > 1
}

func (d *timelineView) nameOf(t *periodic.Task) string {
	if d.Grouped {
		return t.Group
	}
	return t.ID
}

func (d *timelineView) row(name string) *timelineRow {
	if d.rows[name] == nil {
		d.rows[name] = &timelineRow{Name: name, Cells: make([]chart.Level, timelineCells)}
	}
	return d.rows[name]
}

// ran adds a run.
func (d *timelineView) ran(name string, run store.SampledRun) {
	to, row := run.Finished, d.row(name)
	if to.IsZero() {
		to = d.now
	}
	failed := show.Kind(run.State) == "bad"
	if row.Ran += run.Weight; failed {
		row.Failed += run.Weight
	}
	d.add(row, run.Started, to, run.Weight, show.Kind(run.State), failed)
}

// add adds what n runs at once take of each cell to a row and to the sum of all.
func (d *timelineView) add(row *timelineRow, from, to time.Time, n float64, class string, failed bool) {
	width := d.To.Sub(d.From) / timelineCells
	first, last := int(from.Sub(d.From)/width), int(to.Sub(d.From)/width)
	for i := max(first, 0); i <= min(last, timelineCells-1) && from.Before(d.To) && !to.Before(d.From); i++ {
		begin := d.From.Add(time.Duration(i) * width)
		part := n * float64(earlier(to, begin.Add(width)).Sub(later(from, begin))) / float64(width)
		for _, cell := range []*chart.Level{&row.Cells[i], &d.All.Cells[i]} {
			cell.Value += max(part, 1e-6)
			if failed {
				cell.Bad += max(part, 1e-6)
			} else if class == "busy" || cell.Class == "" || cell.Class == "off" {
				cell.Class = class
			}
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
