package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// gather makes the rows of the tasks that ran or will run: first those that failed, then
// those that ran most, then those that run next; and no more of them than a page can hold.
func (d *timelineView) gather(runs []store.TaskRun, tasks []periodic.Task, now time.Time) {
	rows := map[string]*timelineRow{}
	row := func(id string) *timelineRow {
		if rows[id] == nil {
			rows[id] = &timelineRow{ID: id, Runs: []timelineRun{}}
		}
		return rows[id]
	}
	for _, run := range runs {
		to := run.Finished
		if to.IsZero() {
			to = now
		}
		r := row(run.TaskID)
		r.Runs = append(r.Runs, timelineRun{run.JID, run.State, run.Started, to})
		if run.State == "failed" {
			r.Failed++
		}
	}
	for i := range tasks {
		for u := range periodic.Preview(tasks[i:i+1], now, d.To) {
			r := row(tasks[i].ID)
			r.task, r.next = &tasks[i], u.NextRun
			break
		}
	}
	d.Rows = make([]timelineRow, 0, len(rows))
	for _, r := range rows {
		d.Rows = append(d.Rows, *r)
	}
	slices.SortFunc(d.Rows, func(a, b timelineRow) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(len(b.Runs), len(a.Runs)), a.next.Compare(b.next), cmp.Compare(a.ID, b.ID))
	})
	if d.Left = len(d.Rows) - timelineRows; d.Left > 0 {
		d.Rows = d.Rows[:timelineRows]
	}
	d.Left = max(d.Left, 0)
}

// plan adds the runs to come. Of a task that runs very often, it has only one in each of the
// steps that a drawing can show.
func (r *timelineRow) plan(now, until time.Time, step time.Duration) {
	if r.task == nil {
		return
	}
	var last periodic.Upcoming
	add := func(u periodic.Upcoming) {
		r.Runs, r.Planned, last = append(r.Runs, timelineRun{"", "planned", u.NextRun, u.NextRun}), r.Planned+1, u
	}
	for u := range periodic.Preview([]periodic.Task{*r.task}, now, until) {
		if r.Sampled = r.Planned == timelinePlanned; r.Sampled {
			break
		}
		add(u)
	}
	ahead, err := r.task.Future()
	for r.Sampled && err == nil {
		if ahead.GoTo(last.Due.Add(step)); ahead.At.Due.IsZero() || !ahead.At.NextRun.Before(until) {
			return
		}
		add(ahead.At)
	}
}
