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
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// hourView is what is due in the next hour.
type hourView struct {
	Ticks   int           `json:"ticks"`
	Cut     bool          `json:"cut"` // there are more tasks than were looked at
	Soon    []soonTask    `json:"soon"`
	Later   int           `json:"tasks_not_listed"`
	Drawing template.HTML `json:"-"`
}

// soonTask is a task that is due within the next hour.
type soonTask struct {
	ID      string    `json:"id"`
	Due     time.Time `json:"due"`
	Times   int       `json:"times"`             // in this hour
	Last    time.Time `json:"last"`              // of these
	Blocked string    `json:"blocked,omitempty"` // why its tick may not become a job
}

// How much of the next hour is looked at, and listed.
const (
	hourTasks = 2000
	hourTicks = 50_000
	soonTasks = 10
)

// dueBefore are the tasks that are due before a time, one more than are looked at. The first have all their columns.
func (s *source) dueBefore(ctx context.Context, until time.Time) ([]periodic.Task, error) {
	tasks, err := s.tasks.List(ctx, periodic.TaskFilter{DueBefore: until, Limit: hourTasks + 1, Slim: true})
	if err != nil {
		return nil, err
	}
	first, err := s.tasks.List(ctx, periodic.TaskFilter{DueBefore: until, Limit: 3 * soonTasks})
	for i := range tasks[:min(len(first), len(tasks))] {
		if at := slices.IndexFunc(first, func(t periodic.Task) bool { return t.ID == tasks[i].ID }); at >= 0 {
			tasks[i] = first[at]
		}
	}
	return tasks, err
}

// nextHour counts the ticks of each minute, and lists the tasks that come first.
func (s *source) nextHour(ctx context.Context, now time.Time, zone *time.Location) (h hourView, err error) {
	from := now.Truncate(time.Minute)
	until := from.Add(time.Hour)
	tasks, err := s.dueBefore(ctx, until)
	if err != nil {
		return h, err
	}
	if h.Cut = len(tasks) > hourTasks; h.Cut {
		tasks = tasks[:hourTasks]
	}
	h.Soon = []soonTask{}
	minutes := make([]int, 60)
	for i := range tasks {
		t := &tasks[i]
		if t.Pause.At(later(t.NextRun, now)) {
			continue
		}
		times, last := 0, t.NextRun
		for u := range periodic.Preview(tasks[i:i+1], now, until) {
			minutes[max(u.NextRun.Sub(from)/time.Minute, 0)]++
			last = u.NextRun
			if times++; h.Ticks+times >= hourTicks {
				h.Cut = true
				break
			}
		}
		h.Ticks += times
		if len(h.Soon) == soonTasks {
			h.Later++
			continue
		}
		one := soonTask{t.ID, t.NextRun, times, last, t.Blocked()}
		if _, known := s.db.Tasks().Queues(s.queues)[t.Sink]; !known && one.Blocked == "" {
			one.Blocked = (&periodic.SinkError{Sink: t.Sink}).Error()
		}
		h.Soon = append(h.Soon, one)
	}
	h.Drawing = drawHour(minutes, from, zone)
	return h, nil
}

func drawHour(minutes []int, from time.Time, zone *time.Location) template.HTML {
	clock := func(minute int) string { return from.Add(time.Duration(minute) * time.Minute).In(zone).Format("15:04") }
	bars := chart.Bars{Name: "Ticks of each minute of the next hour", From: "now", Middle: "in 30 min", To: "in 1 h"}
	for i, n := range minutes {
		bar := chart.Bar{Value: float64(n), Class: "plan"}
		if n > 0 {
			bar.Title = clock(i) + ": " + count(n, "tick")
		}
		bars.Bars = append(bars.Bars, bar)
	}
	return template.HTML(bars.Counts().Draw()) //nolint:gosec // package chart escapes its texts
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

func (s *source) load(ctx context.Context, t view.Totals) (*loadView, error) {
	services, err := view.Of(s.db).Services(ctx)
	if err != nil {
		return nil, err
	}
	l := &loadView{Running: t.Running(), Waiting: t.Jobs[jobqueue.Waiting], Oldest: t.Oldest}
	l.Executors, l.Places = executors(services)
	if l.Executors == 0 && l.Running == 0 && l.Waiting == 0 {
		return nil, nil
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
	return l, nil
}

// executors counts the executors that are known to run, and their places.
func executors(services []view.Service) (n, places int) {
	for _, one := range services {
		if one.Lives && one.Kind == view.Executor && !slices.Equal(one.Groups, []string{jobqueue.HookGroup}) {
			n, places = n+1, places+one.Places
		}
	}
	return n, places
}

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
