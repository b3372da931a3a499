package dashboard

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/internal/chart"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/dashboard/internal/frame"
)

// busiest is how many minutes are listed, weekTicks how many ticks are counted.
const (
	busiest   = 10
	weekTicks = 1_000_000
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

func (s *server) heatmapPage(ctx context.Context, r *http.Request) (any, error) {
	where, err := zoneOf(r)
	if err != nil {
		return nil, err
	}
	now := s.now().UTC().Truncate(time.Hour)
	d := heatView{Zone: where.String(), Minutes: []minute{}}
	day, errDay := strconv.Atoi(r.URL.Query().Get("day"))
	hour, errHour := strconv.Atoi(r.URL.Query().Get("hour"))
	d.Hour = hour
	picked := errDay == nil && errHour == nil && day >= 0 && day < 7 && d.Hour >= 0 && d.Hour < 24
	minutes, tasks := map[time.Time]int{}, map[string]int{}
	d.Cut, err = s.ahead(ctx, now, now.AddDate(0, 0, 7), weekTicks, func(u periodic.Upcoming) {
		at := u.NextRun.In(where)
		d.Hours.Add(at)
		minutes[u.NextRun.UTC().Truncate(time.Minute)]++
		if picked && (int(at.Weekday())+6)%7 == day && at.Hour() == d.Hour {
			d.Day = at.Weekday().String()
			tasks[u.Task.ID]++
		}
	})
	if err != nil {
		return nil, err
	}
	for at, n := range minutes {
		if n > 1 {
			d.Minutes = append(d.Minutes, minute{at, n})
		}
	}
	slices.SortFunc(d.Minutes, func(a, b minute) int { return cmp.Or(cmp.Compare(b.Ticks, a.Ticks), a.At.Compare(b.At)) })
	d.Minutes = d.Minutes[:min(len(d.Minutes), busiest)]
	for id, n := range tasks {
		d.Cell = append(d.Cell, cellTask{id, n})
	}
	slices.SortFunc(d.Cell, func(a, b cellTask) int { return cmp.Or(cmp.Compare(b.Ticks, a.Ticks), cmp.Compare(a.ID, b.ID)) })
	link := func(day, hour int) string {
		return frame.Path(s.prefix, "heatmap", "day", day, "hour", hour, "zone", r.URL.Query().Get("zone"))
	}
	d.Drawing = template.HTML(d.Hours.Draw(link)) //nolint:gosec // package chart escapes its texts
	return d, nil
}
