package dashboard

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard/internal/chart"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// How much a timeline looks at: tasks, runs and ticks that did not run, and ticks to come.
const (
	timelineTasks = 10_000
	timelineRuns  = 2_000
	timelineAhead = 10_000
)

// fill reads what ran and computes what will.
func (d *timelineView) fill(ctx context.Context, s *server, zone *time.Location) error {
	tasks, err := s.tasks.List(ctx, periodic.TaskFilter{Group: d.Group, Limit: timelineTasks, Slim: true})
	if err != nil {
		return err
	}
	services, err := view.Of(s.db).Services(ctx)
	if err != nil {
		return err
	}
	d.Cut = len(tasks) == timelineTasks
	_, d.Places = executors(services, time.Now())
	var ahead []periodic.Upcoming
	var computed sync.WaitGroup
	computed.Go(func() { ahead = d.ahead(tasks) })
	runs, err := d.readPast(ctx, s)
	if computed.Wait(); err != nil {
		return err
	}
	if d.fits && d.Known.IsZero() {
		d.fit(tasks, runs, zone)
	}
	d.Grouped = d.Group == "" && d.group(tasks, runs)
	took, err := s.tookOf(ctx, tasks, runs)
	if err != nil {
		return err
	}
	for i := range runs {
		d.ran(&runs[i])
	}
	d.plan(ahead, took)
	for id, list := range took {
		if normal := usual(list); normal > 0 && !d.Grouped && d.rows[id] != nil {
			d.rows[id].Usual = round(normal)
		}
	}
	return nil
}

// longestRun is how long before the page runs may have begun that it shows.
const longestRun = 24 * time.Hour

// readPast reads what ran until now, and what did not.
func (d *timelineView) readPast(ctx context.Context, s *server) ([]view.Run, error) {
	until, since := earlier(d.To, d.now), d.From.Add(-longestRun)
	if !d.From.Before(until) {
		return nil, nil
	}
	runs, err := view.Of(s.db).List(ctx, s.tasks, periodic.TickFilter{Group: d.Group, DueFrom: since, DueTo: until, Limit: timelineRuns})
	if err != nil {
		return nil, err
	}
	if len(runs) == timelineRuns {
		if since = runs[len(runs)-1].Due; since.After(d.From) {
			d.Known = since
		}
	}
	open, err := d.readOpen(ctx, s, since)
	runs = append(runs, open...)
	return slices.DeleteFunc(runs, func(r view.Run) bool {
		return r.Due.Before(d.From) && (r.State == "" || !r.Finished.IsZero() && r.Finished.Before(d.From)) // it is over
	}), err
}

// readOpen reads the runs that were due before a time, and have not ended.
func (d *timelineView) readOpen(ctx context.Context, s *server, before time.Time) ([]view.Run, error) {
	jobs, err := s.queue.List(ctx, jobqueue.Filter{Group: d.Group, Limit: timelineRuns,
		States: []jobqueue.State{jobqueue.Running, jobqueue.Scheduled, jobqueue.Stuck, jobqueue.Waiting}})
	if err != nil {
		return nil, err
	}
	var ticks []periodic.TickKey
	for i := range jobs {
		if j := &jobs[i]; !j.Due.IsZero() && j.Due.Before(before) {
			ticks = append(ticks, periodic.TickKey{TaskID: j.Tracker, Due: j.Due})
		}
	}
	return view.Of(s.db).Of(ctx, ticks)
}

// tookOf is how long the jobs of tasks took that succeeded: of a few tasks as their pages say, of many those that the page has read.
func (s *source) tookOf(ctx context.Context, tasks []periodic.Task, runs []view.Run) (map[string][]time.Duration, error) {
	const few = 100
	if len(tasks) <= few {
		ids := make([]string, len(tasks))
		for i := range tasks {
			ids[i] = tasks[i].ID
		}
		return s.took(ctx, ids)
	}
	took := map[string][]time.Duration{}
	for i := range runs {
		if run := &runs[i]; run.State == "success" && run.Took() > 0 {
			took[run.TaskID] = append(took[run.TaskID], run.Took())
		}
	}
	return took, nil
}

// ahead are the ticks to come until the end of the page.
func (d *timelineView) ahead(tasks []periodic.Task) (list []periodic.Upcoming) {
	from := later(d.From, d.now)
	runnable := slices.DeleteFunc(slices.Clone(tasks), func(t periodic.Task) bool { return t.Blocked() != "" })
	for u := range periodic.Preview(runnable, from.Add(-time.Microsecond), d.To) {
		if u.NextRun.Before(from) && from.After(d.now) {
			continue
		}
		if list = append(list, u); len(list) > timelineAhead {
			break
		}
	}
	return list
}

// plan adds what will run. A job that still runs is in the way of the next one of its task, as the task says.
func (d *timelineView) plan(ahead []periodic.Upcoming, took map[string][]time.Duration) {
	takes, free, from := make(map[string]time.Duration, len(took)), map[string]time.Time{}, later(d.From, d.now)
	for id, list := range took {
		takes[id] = median(list)
	}
	for n, u := range ahead {
		switch {
		case !u.NextRun.Before(d.To): // the page has become shorter
			return
		case n == timelineAhead:
			d.Planned = u.NextRun
			return
		}
		row, start := d.row(u.Task.ID), later(u.NextRun, from)
		row.Planned++
		long := takes[u.Task.ID]
		if before := free[u.Task.ID]; before.After(start) {
			if u.Task.Overlap == periodic.OverlapSkip || before.Add(-long).After(start) { // another one waits already
				row.Skipped++
				continue
			}
			start = before
		}
		if end := start.Add(long); u.Task.Overlap == periodic.OverlapSkip || u.Task.Overlap == periodic.OverlapQueue {
			free[u.Task.ID] = end
		}
		d.add(start, start.Add(long), "plan", row, d.All)
		d.edge(start, start.Add(long))
	}
}

// leaveOut marks a tick of a task that did not run, or those that were missed together.
func (d *timelineView) leaveOut(row *timelineRow, k *view.Run) {
	class := show.Kind(string(k.Decision))
	row.Out += max(k.Missed, 1)
	for i := d.cell(k.Due); i <= min(d.cell(later(k.Due, k.Until)), timelineCells-1); i++ {
		if cell := &row.Cells[max(i, 0)]; cell.Out != "warn" {
			cell.Out = class
		}
	}
}

// cell is in which cell a time lies, if it is not before the page.
func (d *timelineView) cell(at time.Time) int { return int(at.Sub(d.From) / d.long) }

// group notes the groups of tasks. It reports whether there are more tasks than rows, in more than one group.
func (d *timelineView) group(tasks []periodic.Task, runs []view.Run) bool {
	ids, groups := map[string]bool{}, map[string]bool{}
	for i := range tasks {
		d.groups[tasks[i].ID] = tasks[i].Group
		ids[tasks[i].ID], groups[tasks[i].Group] = true, true
	}
	for i := range runs {
		ids[runs[i].TaskID] = true
	}
	return len(ids) > timelineRows && len(groups) > 1
}

// row is that of a task, or of its group.
func (d *timelineView) row(task string) *timelineRow {
	name := task
	if d.Grouped {
		name = d.groups[task]
	}
	if d.rows[name] == nil {
		d.rows[name] = &timelineRow{Name: name, Cells: make([]chart.Level, timelineCells)}
	}
	return d.rows[name]
}

// ran adds a run to its row, and to that of all if it takes a place of the executors. Elsewhere it begins when it was decided; if
// nobody tells how it ended, that is its end, too.
func (d *timelineView) ran(run *view.Run) {
	row, class := d.row(run.TaskID), show.Kind(run.State)
	from, to := run.Started, run.Finished
	switch own := run.Own(); {
	case run.Decision != periodic.Submitted && !d.Grouped:
		d.leaveOut(row, run)
		return
	case own && from.IsZero() && to.IsZero():
		row.Waiting++
		d.add(run.Due, d.now, "wait", row)
		return
	case run.Decision != periodic.Submitted, own && from.IsZero():
		return
	case !own:
		from, to = run.Decided, later(run.Finished, run.Decided)
	case to.IsZero():
		to = d.now
	}
	switch row.Ran++; class {
	case "bad":
		row.Failed++
	case "wait":
		if !run.Own() { // it was handed over, and nobody tells how it ended
			class = "off"
		}
	}
	if d.add(from, to, class, row); run.Own() && class != "wait" {
		d.add(from, to, class, d.All)
		d.edge(from, to)
	}
}

// edge notes when a run begins and ends.
func (d *timelineView) edge(from, to time.Time) {
	if from.Before(to) && from.Before(d.To) && to.After(d.From) {
		d.edges = append(d.edges, edge{from, 1}, edge{to, -1})
	}
}

// add adds what a run takes of each cell to rows.
func (d *timelineView) add(from, to time.Time, class string, rows ...*timelineRow) {
	if !from.Before(d.To) || to.Before(d.From) {
		return
	}
	for i := max(d.cell(from), 0); i <= min(d.cell(to), timelineCells-1); i++ {
		begin := d.From.Add(time.Duration(i) * d.long)
		part := max(float64(earlier(to, begin.Add(d.long)).Sub(later(from, begin)))/float64(d.long), 1e-6)
		for _, row := range rows {
			cell := &row.Cells[i]
			cell.Value += part
			cell.Runs++
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
