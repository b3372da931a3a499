package plan

import (
	"context"
	"html/template"
	"time"

	"github.com/nextrun/nextrun/internal/bounds"
	"github.com/nextrun/nextrun/internal/chart"
	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
)

// timelineRow is a task or a group.
type timelineRow struct {
	Name    string        `json:"name"`
	Ran     float64       `json:"runs"`
	Failed  float64       `json:"failed"`
	Planned float64       `json:"planned"`
	Skipped float64       `json:"planned_but_skipped,omitempty"` // for the job before will still run
	Out     int           `json:"did_not_run,omitempty"`         // ticks that were skipped, missed or late; of groups, they are not read
	Usual   string        `json:"usually_takes,omitempty"`
	Cells   []chart.Level `json:"cells"` // load is how many run at once, on average
	Link    string        `json:"-"`
	Drawing template.HTML `json:"-"`
}

// fill reads what ran and computes what will.
func (d *timelineView) fill(ctx context.Context, s Pages) (err error) {
	var past figures.Sample
	until := d.To
	if d.now.Before(until) {
		until = d.now
	}
	if d.From.Before(until) {
		if past, err = figures.Of(s.DB).Sample(ctx, d.From, until, d.most(), d.Group); err != nil {
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
	elsewhere, err := figures.Of(s.DB).Elsewhere(ctx, d.From, until, d.Group, mostElsewhere)
	if err != nil {
		return err
	}
	d.Partly = len(elsewhere) == mostElsewhere
	usual, whole, err := s.durations(ctx, tasks)
	if err != nil {
		return err
	}
	d.Grouped = d.Group == "" && manyOf(tasks, append(elsewhere, past.Runs...))
	for _, run := range past.Runs {
		d.ran(run, d.All)
	}
	for _, run := range elsewhere { // they take no place of the executors
		d.ran(run)
	}
	d.plan(kinOf(tasks, usual, d.nameOf))
	if err := d.leaveOut(ctx, s, until); err != nil {
		return err
	}
	if d.choose(); d.Grouped || whole {
		for _, row := range d.Rows {
			row.setUsual(usual["task "+row.Name])
		}
		return nil
	}
	return d.readUsual(ctx, s)
}

// plan adds what will run.
func (d *timelineView) plan(kins []*kin) {
	for _, k := range kins {
		row, took, n := d.row(d.nameOf(k.Task)), k.took(), float64(len(k.all))
		k.each(d.now, later(d.From, d.now), d.To, func(v visit) {
			row.Planned += v.ticks * n
			if row.Skipped += (v.ticks - v.runs) * n; v.runs > 0 {
				d.add(v.start, v.start.Add(took), v.runs*n, "plan", row, d.All)
				d.edge(v.start, v.start.Add(took), n)
			}
		})
	}
}

// leaveOut marks the ticks of tasks that did not run.
func (d *timelineView) leaveOut(ctx context.Context, s Pages, until time.Time) error {
	if d.Grouped || !d.From.Before(until) {
		return nil
	}
	ticks, err := s.Tasks.Ticks(ctx, periodic.TickFilter{Group: d.Group, Decision: bounds.NotRun, DueFrom: d.From, DueTo: until, Limit: mostElsewhere})
	d.Partly = d.Partly || len(ticks) == mostElsewhere
	for _, k := range ticks {
		row, class := d.row(k.TaskID), show.Kind(string(k.Decision))
		row.Out += max(k.Missed, 1)
		for i := max(int(k.Due.Sub(d.From)/d.cell), 0); i <= min(int(later(k.Due, k.Until).Sub(d.From)/d.cell), d.cells()-1); i++ {
			if cell := &row.Cells[i]; cell.Out != "warn" {
				cell.Out = class
			}
		}
	}
	return err
}

// edge notes when runs begin and end.
func (d *timelineView) edge(from, to time.Time, n float64) {
	if from.Before(to) && from.Before(d.To) && to.After(d.From) {
		d.edges = append(d.edges, edge{from.UnixNano(), n}, edge{to.UnixNano(), -n})
	}
}

// readUsual adds how long the tasks of the rows usually take.
func (d *timelineView) readUsual(ctx context.Context, s Pages) error {
	ids := make([]string, len(d.Rows))
	for i, row := range d.Rows {
		ids[i] = row.Name
	}
	own, err := figures.Of(s.DB).Took(ctx, ids, UsualTicks, "success")
	for _, row := range d.Rows {
		row.setUsual(own[row.Name])
	}
	return err
}

func (r *timelineRow) setUsual(took []time.Duration) {
	if median, known := Usual(took); known {
		r.Usual = span.Exact(median)
	}
}

// manyOf reports whether there are more tasks than rows, in more than one group.
func manyOf(tasks []periodic.Task, runs []figures.SampledRun) bool {
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
		d.rows[name] = &timelineRow{Name: name, Cells: make([]chart.Level, d.cells())}
	}
	return d.rows[name]
}

// ran adds a run to its row and to others.
func (d *timelineView) ran(run figures.SampledRun, also ...*timelineRow) {
	name, to := run.TaskID, run.Finished
	if d.Grouped {
		name = run.Group
	}
	if to.IsZero() {
		to = d.now
	}
	row, class := d.row(name), show.Kind(run.State)
	switch row.Ran += run.Weight; class {
	case "bad":
		row.Failed += run.Weight
	case "wait": // it was handed over, and nobody tells how it ended
		class = "off"
	}
	d.add(run.Started, to, run.Weight, class, append(also, row)...)
	if len(also) > 0 {
		d.edge(run.Started, to, run.Weight)
	}
}

// add adds what n runs at once take of each cell to rows.
func (d *timelineView) add(from, to time.Time, n float64, class string, rows ...*timelineRow) {
	if !from.Before(d.To) || to.Before(d.From) {
		return
	}
	first, last := int(from.Sub(d.From)/d.cell), int(to.Sub(d.From)/d.cell)
	for i := max(first, 0); i <= min(last, d.cells()-1); i++ {
		begin := d.From.Add(time.Duration(i) * d.cell)
		part := max(n*float64(earlier(to, begin.Add(d.cell)).Sub(later(from, begin)))/float64(d.cell), 1e-6)
		for _, row := range rows {
			cell := &row.Cells[i]
			cell.Value += part
			if class == "bad" {
				cell.Bad += part
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
