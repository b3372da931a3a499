package plan

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/internal/chart"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/periodic"
)

// busiest is how many minutes are listed, weekTicks how many ticks are counted.
const (
	busiest   = 10
	weekTicks = 2_000_000
)

// heatView is the page of the busy hours of the week to come.
type heatView struct {
	Zone    string        `json:"zone"`
	Hours   chart.Week    `json:"ticks"`             // by weekday, Monday first, and hour
	Minutes []minute      `json:"busiest_minutes"`   // with more than one tick
	Day     string        `json:"day,omitempty"`     // the cell that is shown
	Hour    int           `json:"hour,omitempty"`    //
	Cell    []cellTask    `json:"in_hour,omitempty"` // the tasks of that cell
	Cut     bool          `json:"cut"`               // there are more ticks than were counted
	Drawing template.HTML `json:"-"`
}

type minute struct {
	At    time.Time `json:"at"`
	Ticks int       `json:"ticks"`
}

type cellTask struct {
	ID    string `json:"id"`
	Ticks int    `json:"ticks"`
}

func (s Pages) Heatmap(ctx context.Context, r *http.Request) (any, error) {
	where, err := zoneOf(r)
	if err != nil {
		return nil, err
	}
	now := s.Now().UTC().Truncate(time.Hour)
	d := heatView{Zone: where.String()}
	day, errDay := strconv.Atoi(r.URL.Query().Get("day"))
	hour, errHour := strconv.Atoi(r.URL.Query().Get("hour"))
	d.Hour = hour
	picked := errDay == nil && errHour == nil && day >= 0 && day < 7 && d.Hour >= 0 && d.Hour < 24
	until := now.In(where).AddDate(0, 0, 7) // an hour more or less where the clock changes
	minutes, tasks := make([]int, until.Sub(now)/time.Minute), map[string]int{}
	d.Cut, err = s.eachAhead(ctx, now, until, func(u periodic.Upcoming) {
		at := u.NextRun.In(where)
		d.Hours.Add(at)
		minutes[max(u.NextRun.Sub(now)/time.Minute, 0)]++ // what is overdue comes next
		if picked && (int(at.Weekday())+6)%7 == day && at.Hour() == d.Hour {
			d.Day = at.Weekday().String()
			tasks[u.Task.ID]++
		}
	})
	if err != nil {
		return nil, err
	}
	d.Minutes = busiestOf(minutes, now)
	for id, n := range tasks {
		d.Cell = append(d.Cell, cellTask{id, n})
	}
	slices.SortFunc(d.Cell, func(a, b cellTask) int { return cmp.Or(cmp.Compare(b.Ticks, a.Ticks), cmp.Compare(a.ID, b.ID)) })
	link := func(day, hour int) string {
		return frame.Path(s.Prefix, "heatmap", "day", day, "hour", hour, "zone", r.URL.Query().Get("zone"))
	}
	d.Drawing = template.HTML(d.Hours.Draw(link)) //nolint:gosec // package chart escapes its texts
	return d, nil
}

// busiestOf are the minutes after a time with most ticks, and more than one.
func busiestOf(minutes []int, from time.Time) []minute {
	list := []minute{}
	for i, n := range minutes {
		if n > 1 {
			list = append(list, minute{from.Add(time.Duration(i) * time.Minute), n})
		}
	}
	slices.SortFunc(list, func(a, b minute) int { return cmp.Or(cmp.Compare(b.Ticks, a.Ticks), a.At.Compare(b.At)) })
	return list[:min(len(list), busiest)]
}

// eachAhead visits the ticks that enabled tasks will have, task by task: to sort a million
// of them takes much longer than to compute them. It reports whether there are more.
func (s Pages) eachAhead(ctx context.Context, now, until time.Time, visit func(periodic.Upcoming)) (more bool, err error) {
	tasks, err := s.Tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskEnabled, Limit: aheadTasks})
	if err != nil {
		return false, err
	}
	n := 0
	for i := range tasks {
		for u := range periodic.Preview(tasks[i:i+1], now, until) {
			if n++; n > weekTicks || n%1000 == 0 && ctx.Err() != nil {
				return true, nil
			}
			visit(u)
		}
	}
	return len(tasks) == aheadTasks, nil
}
