package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
)

// place is somewhere to jump to.
type place struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // page, task, run or runs
	Link string `json:"link"`
}

// Bounds of a search for places.
const (
	mostPlaces = 8
	jumpTime   = time.Second
)

// jump finds pages, tasks and jobs by a part of their names or ids, and runs by a task and a time. It leads to the only one, or to the
// list of the tasks that may be meant; else its page lets one choose, and is JSON for the script of the others.
func (s *server) jump(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), jumpTime)
	defer cancel()
	q, to := strings.TrimSpace(r.URL.Query().Get("q")), ""
	list, err := s.runsAt(ctx, q, frame.Zone(r))
	if err == nil && len(list) == 0 {
		list, err = s.places(ctx, q)
	}
	switch {
	case err != nil || r.URL.Query().Get("format") == "json":
	case len(list) == 1 || len(list) > 0 && strings.EqualFold(list[0].Name, q):
		to = list[0].Link
	case !slices.ContainsFunc(list, func(p place) bool { return p.Kind != "task" }):
		to = frame.Path(s.prefix, "tasks", "q", q)
	}
	if to == "" {
		s.frame.Page("jump", func(context.Context, *http.Request) (any, error) { return list, err })(w, r)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // it is a path of the dashboard
}

// places are the pages, tasks and jobs that a text may mean, the likeliest first.
func (s *server) places(ctx context.Context, q string) ([]place, error) {
	list := []place{}
	for _, page := range [][2]string{{"Now", ""}, {"Tasks", "tasks"}, {"Runs", "runs"}, {"Timeline", "timeline"}, {"System", "system"}} {
		if q != "" && strings.HasPrefix(strings.ToLower(page[0]), strings.ToLower(q)) {
			list = append(list, place{page[0], "page", frame.Path(s.prefix, page[1])})
		}
	}
	tasks, err := s.tasks.List(ctx, periodic.TaskFilter{Search: q, Limit: mostPlaces, Slim: true})
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		one := place{show.Shorten(show.Printable(t.ID), 80), "task", frame.Path(s.prefix, "task", "id", t.ID)}
		if t.ID == q {
			list = append([]place{one}, list...)
			continue
		}
		list = append(list, one)
	}
	if len(q) < 6 { // ids of jobs are long
		return list[:min(len(list), mostPlaces)], nil
	}
	jobs, err := s.queue.List(ctx, jobqueue.Filter{Part: q, Limit: mostPlaces})
	for _, j := range jobs {
		list = append(list, place{show.Shorten(show.Printable(cmp.Or(j.Tracker, j.Task)), 60) + " " + show.Tail(j.JID), "run", frame.Path(s.prefix, "run", "job", j.JID)})
	}
	return list[:min(len(list), mostPlaces)], err
}

// timedTasks is how many tasks a name and a time may mean.
const timedTasks = 3

// runsAt are the runs that a part of a task's name and a time that is over mean, such as "backup Tuesday" or "price-import 14:00".
func (s *server) runsAt(ctx context.Context, q string, zone *time.Location) (list []place, err error) {
	words := strings.Fields(q)
	for n := 1; n < len(words); n++ {
		at, isDay, err := momentOf(strings.Join(words[n:], " "), time.Now(), zone)
		if err != nil {
			continue
		}
		name := strings.Join(words[:n], " ")
		tasks, err := s.tasks.List(ctx, periodic.TaskFilter{Search: name, Limit: timedTasks, Slim: true})
		if i := slices.IndexFunc(tasks, func(t periodic.Task) bool { return t.ID == name }); i >= 0 {
			tasks = tasks[i : i+1]
		}
		for i := 0; i < len(tasks) && err == nil; i++ {
			var one place
			one, err = s.timed(ctx, tasks[i].ID, at, isDay, zone)
			list = append(list, one)
		}
		return list, err
	}
	return nil, nil
}

// timed is the run of a task that was due at a time, the only one of a day, or the list of those of a day. Where there is none, the
// page of the run names the nearest.
func (s *server) timed(ctx context.Context, task string, at time.Time, isDay bool, zone *time.Location) (place, error) {
	name := show.Shorten(show.Printable(task), 60)
	if isDay {
		first, several, err := s.runsOfDay(ctx, task, at, zone)
		if err != nil || several != "" {
			return place{"runs of " + name + ", " + at.In(zone).Format("Mon 2 Jan 2006"), "runs", several}, err
		}
		at = first
	}
	return place{name + ", " + show.Clock(at, time.Now(), zone), "run", frame.Path(s.prefix, "run", "id", task, "at", at.Format(time.RFC3339Nano))}, nil
}
