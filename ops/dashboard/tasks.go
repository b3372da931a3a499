package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

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
