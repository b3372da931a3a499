package dashboard

import (
	"context"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard/internal/chart"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// The chart of the last day has cells of half an hour, the last of which is not over.
const (
	dayCells = 48
	cellTime = 30 * time.Minute
)

// dayView is what ended, and what did not run, in the last day.
type dayView struct {
	From    time.Time     `json:"from"`
	Known   time.Time     `json:"known_since,omitzero"` // what ended before it was not read: it is too much
	Cells   []dayCell     `json:"cells"`
	Legend  []dayCount    `json:"sum"`
	Drawing template.HTML `json:"-"`

	Together bool `json:"-"` // it has runs that were missed together, at even distances
}

// endings are what ended in the last day.
type endings struct {
	list        []view.Ending
	from, known time.Time
}

// dayCell are runs of half an hour, by their kinds.
type dayCell map[string]int

// dayCount is how many runs of a kind there were.
type dayCount struct {
	Kind string `json:"-"`
	Name string `json:"what"`
	Runs int    `json:"runs"`
}

// dayKinds are what runs are counted by, from below.
var dayKinds = []dayCount{{Kind: "good", Name: "success"}, {Kind: "bad", Name: "failed"}, {Kind: "stop", Name: "cancelled"}, {Kind: "warn", Name: "missed or late"}, {Kind: "off", Name: "skipped"}}

// day counts the runs of the last day; nil: there are none.
func (s *server) day(ctx context.Context, now time.Time, zone *time.Location) (*dayView, error) {
	ended, err := s.ended.get(now, func() (e endings, n int, err error) {
		e.from = now.Truncate(cellTime).Add(cellTime - dayCells*cellTime)
		e.list, e.known, err = view.Of(s.db).Ended(ctx, e.from, now)
		for _, one := range e.list {
			n += one.Runs
		}
		return e, n, err
	})
	if err != nil || len(ended.list) == 0 {
		return nil, err
	}
	d, sum := &dayView{From: ended.from, Known: ended.known, Cells: make([]dayCell, dayCells)}, map[string]int{}
	for _, one := range ended.list {
		cell, kind := &d.Cells[min(max(one.At.Sub(d.From)/cellTime, 0), dayCells-1)], show.Kind(one.Outcome)
		if *cell == nil {
			*cell = dayCell{}
		}
		(*cell)[kind] += one.Runs
		sum[kind] += one.Runs
		d.Together = d.Together || one.Together
	}
	for _, one := range dayKinds {
		if one.Runs = sum[one.Kind]; one.Runs > 0 {
			d.Legend = append(d.Legend, one)
		}
	}
	if len(d.Legend) == 0 {
		return nil, nil
	}
	d.Drawing = d.draw(zone)
	return d, nil
}

func (d *dayView) draw(zone *time.Location) template.HTML {
	c := chart.Stacks{Name: "Runs of the last 24 hours, by half hours"}
	for i, cell := range d.Cells {
		from := d.From.Add(time.Duration(i) * cellTime)
		one := chart.Stack{Title: from.In(zone).Format("Mon 15:04") + " to " + from.Add(cellTime).In(zone).Format("15:04")}
		for _, kind := range dayKinds {
			if n := cell[kind.Kind]; n > 0 {
				one.Parts = append(one.Parts, chart.Part{Class: kind.Kind, Value: n})
				one.Title += fmt.Sprintf(", %s %s", show.Number(n), kind.Name)
			}
		}
		c.Stacks = append(c.Stacks, one)
		if i%6 == 0 {
			c.Axis = append(c.Axis, from.In(zone).Format("15:04"))
		}
	}
	c.Axis = append(c.Axis, "now")
	return template.HTML(c.Draw()) //nolint:gosec // package chart escapes its texts
}

// mostRunning is how many running jobs are listed.
const mostRunning = 8

// readRunning adds the jobs that run, those that began first at the top.
func (d *nowView) readRunning(ctx context.Context, s *server, services []view.Service) error {
	jobs, err := s.queue.List(ctx, jobqueue.Filter{States: []jobqueue.State{jobqueue.Running}, Limit: 100})
	if err != nil {
		return err
	}
	slices.SortStableFunc(jobs, func(a, b jobqueue.Job) int { return a.Started.Compare(b.Started) })
	var tasks []string
	for i := range jobs[:min(len(jobs), mostRunning)] {
		d.Runs, tasks = append(d.Runs, s.job(&jobs[i], services)), append(tasks, jobs[i].Tracker)
	}
	if d.Load != nil {
		d.MoreRun = max(d.Load.Running-len(d.Runs), 0)
	}
	took, err := s.took(ctx, tasks)
	for i := range d.Runs {
		if normal := usual(took[d.Runs[i].Task]); normal > 0 {
			d.Runs[i].Took = round(normal)
		}
	}
	return err
}

// loadView says how many jobs run, and how many could.
type loadView struct {
	Executors int       `json:"executors"`
	Places    int       `json:"places"`
	Running   int       `json:"running"`
	Waiting   int       `json:"waiting"`
	Oldest    time.Time `json:"oldest_waits_since,omitzero"`
	Trouble   string    `json:"trouble,omitempty"`
}

// waitsLong is how long a job may wait before the page says so.
const waitsLong = 5 * time.Minute

func loadOf(t view.Totals, services []view.Service) *loadView {
	l := &loadView{Running: t.Running(), Waiting: t.Jobs[jobqueue.Waiting], Oldest: t.Oldest}
	l.Executors, l.Places = executors(services, t.Now)
	if l.Executors == 0 && l.Running == 0 && l.Waiting == 0 {
		return nil
	}
	verb := "are waiting"
	if l.Waiting == 1 {
		verb = "is waiting"
	}
	switch {
	case l.Waiting > 0 && l.Executors == 0:
		l.Trouble = fmt.Sprintf("%s %s, and no executor is known to run", count(l.Waiting, "job"), verb)
	case l.Waiting > 0 && t.Now.Sub(l.Oldest) > waitsLong:
		l.Trouble = fmt.Sprintf("%s %s, the oldest for %s", count(l.Waiting, "job"), verb, text.Text(t.Now.Sub(l.Oldest).Truncate(time.Minute)))
	}
	return l
}

// executors counts the executors that are known to run, and their places, without those that have gone without a word.
func executors(services []view.Service, now time.Time) (n, places int) {
	for _, one := range services {
		if one.Kind == view.Executor && now.Sub(one.Seen) <= silentProcess && !ofHooks(&one) {
			n, places = n+1, places+one.Places
		}
	}
	return n, places
}

// ofHooks reports whether a service is an executor that takes nothing but the jobs of hooks.
func ofHooks(one *view.Service) bool { return slices.Equal(one.Groups, []string{jobqueue.HookGroup}) }

// Full reports whether all places are taken.
func (l *loadView) Full() bool { return l.Places > 0 && l.Running >= l.Places }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// otherQueue is what is known of a queue of another project.
type otherQueue struct {
	Name   string    `json:"queue"`
	Tasks  int       `json:"tasks"`
	Open   int       `json:"jobs_not_known_to_have_ended"`
	Oldest time.Time `json:"oldest_submitted,omitzero"`
	Tells  bool      `json:"tells_how_jobs_end"` // as far as this process knows
}

// others is what is known of the queues of other projects, and how many of their jobs are not known to have ended.
func (s *source) others(t view.Totals) (list []otherQueue, open int) {
	for _, q := range t.Others {
		_, tells := s.queues[q.Sink].(sink.EndTeller)
		list, open = append(list, otherQueue{string(q.Sink), q.Tasks, q.Open, q.Oldest, tells || q.Open > 0}), open+q.Open
	}
	return list, open
}

// soonTask is a task whose turn comes soon.
type soonTask struct {
	ID  string    `json:"id"`
	Due time.Time `json:"due"`
}

// soonTasks is how many tasks are listed whose turn comes next.
const soonTasks = 8

// next lists the tasks whose turn comes first.
func (s *source) next(ctx context.Context) ([]soonTask, error) {
	tasks, err := s.tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskEnabled, DueBefore: periodic.Never, Limit: soonTasks, Slim: true})
	list := make([]soonTask, len(tasks))
	for i, t := range tasks {
		list[i] = soonTask{t.ID, t.NextRun}
	}
	return list, err
}
