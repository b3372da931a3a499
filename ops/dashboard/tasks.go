package dashboard

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/explain"
	"github.com/nextrun/nextrun/ops/dashboard/internal/chart"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// tasksPerPage is how many tasks a page shows.
const tasksPerPage = 50

// taskList is the page of tasks.
type taskList struct {
	Query string    `json:"query,omitempty"` // as it was typed
	State string    `json:"state,omitempty"`
	Group string    `json:"group,omitempty"`
	After string    `json:"after,omitempty"`
	More  string    `json:"more,omitempty"` // after: of the next page
	Tasks []taskRow `json:"tasks"`
	Chips []chip    `json:"states"`
	Back  string    `json:"-"`
	Typed typed     `json:"-"`
}

// chip is a choice that narrows a list.
type chip struct {
	Value string `json:"value"`
	Name  string `json:"-"`
	N     int    `json:"n"` // of those that it leaves; -1: nobody has counted them
}

// read splits what was typed: state: and group: narrow the list, and the rest is searched for.
func (d *taskList) read(q url.Values) (search string) {
	d.Query, d.State, d.Group, d.After = strings.TrimSpace(q.Get("q")), q.Get("state"), q.Get("group"), q.Get("after")
	var words []string
	for word := range strings.FieldsSeq(d.Query) {
		name, value, _ := strings.Cut(word, ":")
		switch name {
		case "state":
			d.State = map[string]string{"failing": string(periodic.TaskFailed)}[value]
			if d.State == "" {
				d.State = value
			}
		case "group":
			d.Group = value
		default:
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

func (s *server) tasksPage(ctx context.Context, r *http.Request) (any, error) {
	d := taskList{Typed: typedOf(r.URL.Query())}
	search := d.read(r.URL.Query())
	d.Back = "tasks?" + url.Values{"q": {d.Query}, "state": {d.State}, "group": {d.Group}, "after": {d.After}}.Encode()
	tasks, err := d.list(ctx, s, search)
	if err != nil {
		return nil, err
	}
	if len(tasks) > tasksPerPage {
		tasks = tasks[:tasksPerPage]
		d.More = tasks[tasksPerPage-1].ID
	}
	if d.Tasks, err = s.rows(ctx, tasks, shownTicks, frame.Zone(r)); err != nil {
		return nil, err
	}
	return &d, d.count(ctx, s)
}

// losing is the state of tasks that lose runs by overlap.
const losing = "losing"

// list reads the tasks of the page, and one more if there is another page.
func (d *taskList) list(ctx context.Context, s *server, search string) (tasks []periodic.Task, err error) {
	if d.State != losing {
		if states := periodic.TaskStates(); d.State != "" && !slices.Contains(states, periodic.TaskState(d.State)) {
			return nil, frame.Bad("unknown state %q; use one of %s", show.Printable(d.State), strings.Trim(fmt.Sprint(append(states, losing)), "[]"))
		}
		return s.tasks.List(ctx, periodic.TaskFilter{Search: search, Group: d.Group, After: d.After, State: periodic.TaskState(d.State), Limit: tasksPerPage + 1})
	}
	ids, err := view.Of(s.db).Losing(ctx, tasksPerPage)
	for _, id := range ids {
		list, err := s.tasks.List(ctx, periodic.TaskFilter{ID: id, Search: search, Group: d.Group})
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, list...)
	}
	return tasks, err
}

// count counts the tasks in each state that there is.
func (d *taskList) count(ctx context.Context, s *server) error {
	t, err := view.Of(s.db).Totals(ctx)
	if err != nil {
		return err
	}
	attention, err := s.needAttention(ctx, t)
	if err != nil {
		return err
	}
	d.Chips = []chip{{"", "All", t.Enabled + t.Paused + t.Blocked + t.Disabled}}
	for _, one := range []chip{
		{string(periodic.TaskAttention), "Attention", len(attention)}, {string(periodic.TaskOverdue), "Overdue", t.Overdue}, {string(periodic.TaskPaused), "Paused", t.Paused},
		{string(periodic.TaskBlocked), "Blocked", t.Blocked}, {string(periodic.TaskDisabled), "Disabled", t.Disabled},
	} {
		if one.N != 0 || one.Value == d.State {
			d.Chips = append(d.Chips, one)
		}
	}
	if len(d.Tasks) > 0 || d.State != "" {
		d.Chips = append(d.Chips, chip{losing, "Losing runs", -1})
	}
	if !slices.ContainsFunc(d.Chips, func(c chip) bool { return c.Value == d.State }) {
		d.Chips = append(d.Chips, chip{d.State, strings.ToUpper(d.State[:1]) + d.State[1:], -1})
	}
	return nil
}

// shownTicks is how many of the newest ticks of a task stand in a row of a table.
const shownTicks = 20

// taskRow is a task in a table.
type taskRow struct {
	ID        string         `json:"id"`
	Handler   string         `json:"handler"`
	Group     string         `json:"group"`
	State     view.State     `json:"state"`
	Cause     view.Code      `json:"attention,omitempty"` // why it needs attention
	Timer     string         `json:"timer"`
	Words     string         `json:"timer_in_words"`
	Problem   string         `json:"problem,omitempty"`
	Attention string         `json:"attention_in_words,omitempty"`
	Pause     string         `json:"pause,omitempty"`
	Lost      string         `json:"lost_by_overlap,omitempty"` // how many ticks
	Last      *shownRun      `json:"last,omitempty"`            // the newest tick
	Next      time.Time      `json:"next,omitzero"`
	NoNext    string         `json:"no_next,omitempty"` // why it has none, or what becomes of it
	Cells     []shownRun     `json:"ticks"`             // the oldest first
	Strip     template.HTML  `json:"-"`                 // the cells drawn
	Zone      *time.Location `json:"-"`                 // of the timer
}

// Kind is the shape and colour of its state: what needs attention does not look well.
func (r taskRow) Kind() string {
	switch kind := show.Kind(string(r.State)); {
	case kind == "bad", kind == "pause", r.Cause == "":
		return kind
	}
	return "warn"
}

// rows are tasks with their newest ticks.
func (s *source) rows(ctx context.Context, tasks []periodic.Task, ticks int, zone *time.Location) ([]taskRow, error) {
	facts, err := view.Of(s.db).Tasks(ctx, tasks, ticks)
	if err != nil {
		return nil, err
	}
	list, ids := make([]taskRow, len(facts)), make([]string, len(facts))
	for i := range facts {
		list[i], ids[i] = s.row(&facts[i], zone), facts[i].ID
	}
	lost, err := view.Of(s.db).Losses(ctx, ids)
	for i := range list {
		list[i].Lost = lost[list[i].ID].String()
	}
	return list, err
}

func (s *source) row(f *view.Task, zone *time.Location) taskRow {
	t, status := f.Task, f.Status()
	r := taskRow{ID: t.ID, Handler: t.Task, Group: t.Group, Timer: t.Timer, Problem: t.Problem, State: status.State, Cause: status.Cause,
		Attention: s.attention(f, zone), Pause: pauseOf(t, time.Now(), zone), Zone: time.UTC, Next: status.Next, Cells: make([]shownRun, len(f.Runs))}
	if t.Unplanned() { // it says so
		r.Next = t.NextRun
	}
	r.NoNext = noNext(t, time.Now(), zone)
	if schedule, err := calendar.ParseAt(t.Timer, t.Anchor()); err == nil {
		r.Zone = calendar.Location(schedule)
		r.Words = explain.Schedule(schedule)
	}
	for i := range f.Runs {
		r.Cells[len(f.Runs)-1-i] = s.run(&f.Runs[i], zone)
	}
	r.Strip = strip(s.prefix, r.ID, r.Cells, shownTicks)
	if n := len(r.Cells); n > 0 {
		r.Last = &r.Cells[n-1]
		r.Last.Slow = slower(f.Runs[0].Took(), usual(successes(f.Runs)))
	}
	return r
}

// attention says in a clause why a task needs attention; empty: it does not.
func (s *source) attention(f *view.Task, zone *time.Location) string {
	said := f.Attention(func(at time.Time) string { return show.Clock(at, f.Now, zone) })
	return show.Shorten(show.Printable(s.mask.Line(said)), 300)
}

// strip draws the newest ticks of a task beside each other, so many of them.
func strip(prefix, id string, cells []shownRun, places int) template.HTML {
	if len(cells) == 0 {
		return ""
	}
	drawn := make([]chart.Cell, places)
	cells = cells[max(len(cells)-places, 0):]
	for i, c := range cells {
		kind := show.Kind(c.State)
		drawn[places-len(cells)+i] = chart.Cell{Class: kind, Title: c.Label, Loud: kind == "bad" || kind == "warn", Hand: c.Hand != "",
			Link: frame.Path(prefix, "run", "id", id, "at", c.Due.Format(time.RFC3339Nano))}
	}
	return template.HTML(chart.Strip("the newest ticks, the oldest first", drawn)) //nolint:gosec // package chart escapes its texts
}

// pauseOf says who has paused a task, until when and why; empty: nobody.
func pauseOf(t *periodic.Task, now time.Time, zone *time.Location) string {
	p, text := t.Pause, "paused"
	if !p.At(now) {
		return ""
	}
	if p.By != "" {
		text += " by " + p.By
	}
	text += " since " + show.Clock(p.Since, now, zone)
	if p.Until.IsZero() {
		text += ", until somebody resumes it"
	} else {
		text += " until " + show.Clock(p.Until, now, zone)
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// noNext says why a task has no next run, or what becomes of its ticks until it has one; empty: it has one.
func noNext(t *periodic.Task, now time.Time, zone *time.Location) string {
	switch {
	case !t.Enabled:
		return "none while disabled"
	case t.Blocked() != "":
		return "none while blocked"
	case t.Pause.At(now) && t.Pause.Until.IsZero():
		return "skipped until resumed"
	case t.Pause.At(now) && !t.NextRun.After(t.Pause.Until):
		return "skipped until " + show.Clock(t.Pause.Until, now, zone)
	case t.NextRun.Before(periodic.Never):
		return ""
	case !t.Ends.IsZero() && !t.Ends.After(now):
		return "none: it has ended"
	}
	return "none: its timer never elapses again"
}
