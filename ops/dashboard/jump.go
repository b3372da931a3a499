package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
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

// jump finds pages, tasks and jobs by a part of their names or ids, and runs by a task and a time: as JSON for the script of the page, otherwise
// it leads to the only one, or to the list of tasks.
func (s *server) jump(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), jumpTime)
	defer cancel()
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	list, err := s.runsAt(ctx, q, frame.Zone(r))
	found := len(list) > 0
	if err == nil && !found {
		list, err = s.places(ctx, q)
	}
	if err != nil {
		s.frame.Fail(w, r, err)
		return
	}
	if r.URL.Query().Get("format") == "json" {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(list)
		return
	}
	to := frame.Path(s.prefix, "tasks", "q", q)
	if found || len(list) == 1 || len(list) > 0 && strings.EqualFold(list[0].Name, q) {
		to = list[0].Link
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

// Bounds of the runs that a time means.
const (
	timedTasks = 3
	timedRuns  = 4
)

// runsAt are the runs that a part of a task's name and a time that is over mean, such as "backup Tuesday" or "price-import 14:00".
func (s *server) runsAt(ctx context.Context, q string, zone *time.Location) (list []place, err error) {
	words, now := strings.Fields(q), s.now()
	for n := 1; n < len(words); n++ {
		at, isDay, err := momentOf(strings.Join(words[n:], " "), now, zone)
		if err != nil {
			continue
		}
		name := strings.Join(words[:n], " ")
		tasks, err := s.tasks.List(ctx, periodic.TaskFilter{Search: name, Limit: timedTasks, Slim: true})
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(tasks, func(t periodic.Task) bool { return t.ID == name }); i >= 0 {
			tasks = tasks[i : i+1]
		}
		for _, t := range tasks {
			found, err := s.timed(ctx, t.ID, at, isDay, zone)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		}
		return list[:min(len(list), mostPlaces)], nil
	}
	return nil, nil
}

// timed are the run of a task that was due at a time, or the first ones of a day, and where all of these are.
func (s *server) timed(ctx context.Context, task string, at time.Time, isDay bool, zone *time.Location) (list []place, err error) {
	name := show.Shorten(show.Printable(task), 60)
	one := func(due time.Time, became string) place {
		return place{name + ", " + show.Clock(due, s.now(), zone) + became, "run", frame.Path(s.prefix, "run", "id", task, "at", due.Format(time.RFC3339Nano))}
	}
	if !isDay {
		return []place{one(at, "")}, nil
	}
	runs, err := s.runsOfDay(ctx, task, at, timedRuns+1, zone)
	for i := range runs[:min(len(runs), timedRuns)] {
		list = append(list, one(runs[i].Due, ": "+show.Word(runs[i].Outcome())))
	}
	if len(runs) != 1 {
		day := at.In(zone).Format("Mon 2 Jan 2006")
		list = append(list, place{"all runs of " + name + " on " + day, "runs",
			frame.Path(s.prefix, "runs", "task", task, "from", at.Format(time.RFC3339), "to", endOfDay(at, zone).Format(time.RFC3339))})
	}
	return list, err
}
