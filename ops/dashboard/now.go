package dashboard

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// nowView is the first page.
type nowView struct {
	Totals   totals     `json:"totals"`
	Empty    bool       `json:"empty"`    // nobody has added a task
	Troubled []taskRow  `json:"troubled"` // the first of the tasks that fail or have a problem
	Others   int        `json:"troubled_not_listed"`
	Overdue  []string   `json:"overdue"` // the first of the tasks that are overdue while a scheduler runs
	Soon     []soonTask `json:"soon"`    // due within the next hour
	Strips   []taskRow  `json:"strips"`  // the last 24 hours of the first tasks
	More     bool       `json:"more"`    // there are more tasks than strips
}

type totals struct {
	Troubled int     `json:"need_attention"`
	Fresh    bool    `json:"no_scheduler_yet"` // none has run on this database
	Enabled  int     `json:"enabled"`
	Paused   int     `json:"paused"`
	Disabled int     `json:"disabled"`
	Blocked  int     `json:"blocked"`
	Overdue  int     `json:"overdue"`
	Late     string  `json:"most_overdue,omitempty"`
	Alone    bool    `json:"no_scheduler"` // tasks are overdue, and no scheduler is known to run
	Waiting  int     `json:"jobs_waiting"`
	Running  int     `json:"jobs_running"`
	Skew     float64 `json:"clock_skew_seconds"`
}

type soonTask struct {
	ID      string         `json:"id"`
	Due     time.Time      `json:"due"`
	Zone    *time.Location `json:"-"`
	Blocked string         `json:"blocked,omitempty"` // why its tick may not become a job
}

// Sizes of the first page.
const (
	stripTasks    = 50
	stripTicks    = 96
	soonTasks     = 30
	troubledTasks = 30
	overdueTasks  = 5
)

func (s *server) nowPage(ctx context.Context, _ *http.Request) (any, error) {
	t, err := s.db.Figures().Totals(ctx)
	if err != nil {
		return nil, err
	}
	d := nowView{Totals: totalsOf(t)}
	tasks, err := s.tasks.List(ctx, periodic.TaskFilter{Limit: stripTasks + 1})
	if err != nil {
		return nil, err
	}
	if d.More = len(tasks) > stripTasks; d.More {
		tasks = tasks[:stripTasks]
	}
	if d.Strips, err = s.rows(ctx, tasks, stripTicks); err != nil {
		return nil, err
	}
	for i := range d.Strips {
		d.Strips[i].Cells = since(d.Strips[i].Cells, t.Now.Add(-24*time.Hour))
	}
	d.Empty = len(tasks) == 0 || len(tasks) == 1 && tasks[0].Task == store.HousekeepingTask
	troubled, err := s.tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskAttention})
	if err != nil {
		return nil, err
	}
	d.Totals.Troubled, d.Others = len(troubled), max(len(troubled)-troubledTasks, 0)
	if d.Troubled, err = s.rows(ctx, troubled[:min(len(troubled), troubledTasks)], shownTicks); err != nil {
		return nil, err
	}
	for i := range d.Troubled {
		d.Troubled[i].Wrong = newestWrong(d.Troubled[i].Cells)
	}
	if d.Overdue, err = s.overdue(ctx, t); err != nil {
		return nil, err
	}
	d.Soon, err = s.soon(ctx, t.Now)
	return d, err
}

// overdue are the first of the tasks that are overdue, unless no scheduler runs at all.
func (s *server) overdue(ctx context.Context, t store.Totals) (ids []string, err error) {
	if t.Overdue == 0 || t.NoScheduler() {
		return nil, nil
	}
	tasks, err := s.tasks.List(ctx, periodic.TaskFilter{DueBefore: t.Now.Add(-periodic.OverdueAfter), Limit: overdueTasks})
	for _, t := range tasks {
		ids = append(ids, t.ID)
	}
	return ids, err
}

// newestWrong is the newest tick that did not end well.
func newestWrong(cells []cell) *cell {
	for i := len(cells) - 1; i >= 0; i-- {
		if slices.Contains([]string{"failed", "missed", "late"}, cells[i].State) {
			return &cells[i]
		}
	}
	return nil
}

// since are the cells of ticks after a time.
func since(cells []cell, at time.Time) []cell {
	for i, c := range cells {
		if c.Due.After(at) {
			return cells[i:]
		}
	}
	return nil
}

// soon are the tasks that are due next, within an hour.
func (s *server) soon(ctx context.Context, now time.Time) ([]soonTask, error) {
	tasks, err := s.tasks.List(ctx, periodic.TaskFilter{DueBefore: now.Add(time.Hour), Limit: soonTasks})
	if err != nil {
		return nil, err
	}
	list := []soonTask{}
	for i := range tasks {
		zone := time.UTC
		if schedule, err := calendar.ParseAt(tasks[i].Timer, tasks[i].Anchor()); err == nil {
			zone = calendar.Location(schedule)
		}
		one := soonTask{tasks[i].ID, tasks[i].NextRun, zone, tasks[i].Blocked()}
		if _, known := s.db.Tasks().Queues(s.queues)[tasks[i].Sink]; !known && one.Blocked == "" {
			one.Blocked = (&periodic.SinkError{Sink: tasks[i].Sink}).Error()
		}
		list = append(list, one)
	}
	return list, nil
}

func totalsOf(t store.Totals) totals {
	d := totals{Fresh: t.Fresh, Alone: t.NoScheduler(), Enabled: t.Enabled, Paused: t.Paused, Disabled: t.Disabled, Blocked: t.Blocked, Overdue: t.Overdue, Skew: t.Skew.Seconds()}
	if t.Late > 0 {
		d.Late = span.Exact(t.Late.Truncate(time.Second))
	}
	for _, q := range t.Queue {
		switch q.State {
		case "running", "scheduled":
			d.Running += q.Jobs
		default:
			d.Waiting += q.Jobs
		}
	}
	return d
}
