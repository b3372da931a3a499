package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// runsPerPage is how many runs a page shows.
const runsPerPage = 100

// runList is the page of the runs of all tasks: ticks with their jobs, ticks that did not run, and jobs of no task.
type runList struct {
	State   string     `json:"state,omitempty"` // of jobs, or not-run; empty: any
	Task    string     `json:"task,omitempty"`
	Handler string     `json:"handler,omitempty"`
	Group   string     `json:"group,omitempty"`
	Last    string     `json:"-"` // the name of a time until now; empty: another time
	From    time.Time  `json:"from,omitzero"`
	To      time.Time  `json:"to,omitzero"`
	Runs    []shownRun `json:"runs"`
	Failing []failing  `json:"failing,omitempty"` // the tasks of these runs, if they have failed
	Chips   []chip     `json:"states"`
	Page    int        `json:"page"`
	More    bool       `json:"more"` // there is another one
}

// mostPages is how far back the list goes: a page costs as much as all before it.
const mostPages = 50

// lasts are the times until now that the page offers.
var lasts = map[string]time.Duration{"hour": time.Hour, "24 hours": 24 * time.Hour, "7 days": 7 * 24 * time.Hour, "30 days": 30 * 24 * time.Hour}

// runStates are what runs can be selected by.
var runStates = []chip{
	{"", "All", -1}, {string(jobqueue.Running), "Running", 0}, {string(jobqueue.Waiting), "Waiting", 0}, {"retrying", "Retrying", 0}, {string(jobqueue.Failed), "Failed", -1},
	{string(jobqueue.Cancelled), "Cancelled", -1}, {string(jobqueue.Success), "Success", -1}, {periodic.NotRun, "Did not run", -1},
}

func (s *server) runsPage(ctx context.Context, r *http.Request) (any, error) {
	q := r.URL.Query()
	page, _ := strconv.Atoi(q.Get("page"))
	d := runList{Page: min(max(page, 1), mostPages), State: q.Get("state"), Task: q.Get("task"), Handler: q.Get("handler"), Group: q.Get("group"), Runs: []shownRun{}}
	if d.State == string(jobqueue.Stuck) {
		d.State = "retrying"
	}
	if !slices.ContainsFunc(runStates, func(c chip) bool { return c.Value == d.State }) {
		var names []string
		for _, c := range runStates[1:] {
			names = append(names, c.Value)
		}
		return nil, frame.Bad("unknown state %q; use one of %s", show.Printable(d.State), strings.Join(names, " "))
	}
	if err := d.readTime(q.Get("last"), q.Get("from"), q.Get("to"), time.Now(), frame.Zone(r)); err != nil {
		return nil, err
	}
	if err := cmp.Or(d.readJobs(ctx, s), d.readTicks(ctx, s)); err != nil {
		return nil, err
	}
	t, err := view.Of(s.db).Totals(ctx)
	if err != nil {
		return nil, err
	}
	if len(t.Others) > 0 {
		err = d.readElsewhere(ctx, s)
	}
	d.count(t)
	slices.SortStableFunc(d.Runs, func(a, b shownRun) int { return b.Due.Compare(a.Due) })
	d.More = len(d.Runs) > d.Page*runsPerPage && d.Page < mostPages
	d.Runs = d.Runs[min((d.Page-1)*runsPerPage, len(d.Runs)):min(d.Page*runsPerPage, len(d.Runs))]
	if d.State == string(jobqueue.Failed) && d.Task == "" {
		d.countTasks()
	}
	return &d, err
}

// failing is a task, and how many of the runs of a page are its.
type failing struct {
	Task string `json:"task"`
	Runs int    `json:"runs"`
}

// countTasks counts the runs of the page by their tasks, and puts those with most first.
func (d *runList) countTasks() {
	runs := map[string]int{}
	for i := range d.Runs {
		if task := d.Runs[i].Task; task != "" {
			runs[task]++
		}
	}
	for task, n := range runs {
		d.Failing = append(d.Failing, failing{task, n})
	}
	slices.SortFunc(d.Failing, func(a, b failing) int { return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Task, b.Task)) })
}

// readTime finds the time that is asked for: until now, or of the address.
func (d *runList) readTime(last, from, to string, now time.Time, zone *time.Location) (err error) {
	if long := lasts[last]; long > 0 {
		d.From, d.Last = now.Add(-long), last
	}
	if from != "" || to != "" {
		d.Last = ""
	}
	isDay := false
	if from != "" {
		if d.From, _, err = momentOf(from, now, zone); err != nil {
			return err
		}
	}
	if to != "" {
		if d.To, isDay, err = momentOf(to, now, zone); err != nil {
			return err
		}
	}
	if isDay {
		d.To = endOfDay(d.To, zone)
	}
	if !d.To.IsZero() && !d.From.Before(d.To) {
		return frame.Bad("from is %s, which is not before %s", show.Moment(d.From, zone), show.Moment(d.To, zone))
	}
	return nil
}

// most is how many rows of each kind are read.
func (d *runList) most() int { return d.Page*runsPerPage + 1 }

// Unfinished reports whether runs are listed that have not ended: then their time does not matter.
func (d *runList) Unfinished() bool {
	return d.State == string(jobqueue.Running) || d.State == string(jobqueue.Waiting) || d.State == "retrying"
}

// Can is what may be done with the jobs of the list.
func (d *runList) Can() []string {
	switch d.State {
	case string(jobqueue.Failed), string(jobqueue.Cancelled):
		return []string{"retry"}
	case string(jobqueue.Running), string(jobqueue.Waiting):
		return []string{"cancel"}
	case "retrying":
		return []string{"retry", "cancel"}
	}
	return nil
}

// readJobs adds jobs of nextrun's own queue.
func (d *runList) readJobs(ctx context.Context, s *server) error {
	if d.State == periodic.NotRun {
		return nil
	}
	f := jobqueue.Filter{Group: d.Group, Task: d.Handler, Tracker: d.Task, Limit: d.most(), Since: d.From, Until: d.To}
	switch d.State {
	case "":
	case string(jobqueue.Running):
		f.States = []jobqueue.State{jobqueue.Running, jobqueue.Scheduled}
	default:
		f.States = []jobqueue.State{jobqueue.StateOf(d.State)}
	}
	if d.Unfinished() {
		f.Since, f.Until = time.Time{}, time.Time{}
	}
	jobs, err := s.queue.List(ctx, f)
	if err != nil {
		return err
	}
	services, err := view.Of(s.db).Services(ctx)
	if err != nil {
		return err
	}
	for i := range jobs {
		d.Runs = append(d.Runs, s.job(&jobs[i], services))
	}
	return nil
}

// readTicks adds ticks that have no job in nextrun's own queue: those that did not run, and of all states those of events and other queues.
func (d *runList) readTicks(ctx context.Context, s *server) error {
	if d.State != "" && d.State != periodic.NotRun || d.Handler != "" {
		return nil
	}
	return d.addTicks(ctx, s, periodic.TickFilter{Decision: periodic.Decision(d.State), Limit: d.most()}, func(*view.Run) bool { return true })
}

// addTicks adds those of a filter, of the task, group and time of the page, that hold: whose job is not one of nextrun's own queue.
func (d *runList) addTicks(ctx context.Context, s *server, f periodic.TickFilter, holds func(*view.Run) bool) error {
	f.TaskID, f.Group, f.DueFrom, f.DueTo = d.Task, d.Group, d.From, d.To
	list, err := view.Of(s.db).List(ctx, s.tasks, f)
	for i := range list {
		if r := &list[i]; !r.Own() && holds(r) {
			d.Runs = append(d.Runs, s.run(r, time.UTC))
		}
	}
	return err
}

// readElsewhere adds the runs of other queues that ended so: of the time of the page, or of the newest ones.
func (d *runList) readElsewhere(ctx context.Context, s *server) error {
	if state := jobqueue.StateOf(d.State); !state.Final() || d.Handler != "" {
		return nil
	}
	return d.addTicks(ctx, s, periodic.TickFilter{Decision: periodic.Submitted, Limit: mostElsewhere}, func(r *view.Run) bool { return r.State == d.State })
}

// mostElsewhere is among how many ticks those of other queues are looked for.
const mostElsewhere = 5000

// count says how many runs have not ended, by state.
func (d *runList) count(t view.Totals) {
	in := map[string]int{string(jobqueue.Running): t.Running(), string(jobqueue.Waiting): t.Jobs[jobqueue.Waiting], "retrying": t.Jobs[jobqueue.Stuck]}
	for _, c := range runStates {
		if n, known := in[c.Value]; known {
			c.N = n
		}
		d.Chips = append(d.Chips, c)
	}
}

// Link is what leads to the same list with another value of one of its parameters.
func (d *runList) Link(prefix, name string, value any) string {
	pairs := []any{"state", d.State, "task", d.Task, "handler", d.Handler, "group", d.Group, "last", d.Last}
	if d.Last == "" && name != "last" {
		for i, at := range []time.Time{d.From, d.To} {
			if !at.IsZero() {
				pairs = append(pairs, []string{"from", "to"}[i], at.UTC().Format(time.RFC3339))
			}
		}
	}
	return frame.Path(prefix, "runs", append(pairs, name, value)...)
}
