package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
)

// tasksPerPage is how many tasks a page shows.
const tasksPerPage = 50

// taskList is the page of tasks.
type taskList struct {
	Query  string    `json:"query,omitempty"`
	State  string    `json:"state,omitempty"`
	Group  string    `json:"group,omitempty"`
	After  string    `json:"after,omitempty"`
	More   string    `json:"more,omitempty"` // after: of the next page
	Tasks  []taskRow `json:"tasks"`
	States []string  `json:"-"`
	Back   string    `json:"-"`
}

// taskStates are what tasks can be selected by; empty: all.
func taskStates() []string {
	names := []string{""}
	for _, state := range periodic.TaskStates() {
		names = append(names, string(state))
	}
	return names
}

func (s *server) tasksPage(ctx context.Context, r *http.Request) (any, error) {
	q := r.URL.Query()
	d := taskList{Query: q.Get("q"), State: q.Get("state"), Group: q.Get("group"), After: q.Get("after"), States: taskStates()}
	d.Back = "tasks?" + url.Values{"q": {d.Query}, "state": {d.State}, "group": {d.Group}, "after": {d.After}}.Encode()
	if !slices.Contains(d.States, d.State) {
		return nil, frame.Bad("unknown state %q; use one of%s", show.Printable(d.State), strings.Join(d.States, " "))
	}
	filter := periodic.TaskFilter{Search: d.Query, Group: d.Group, After: d.After, State: periodic.TaskState(d.State), Limit: tasksPerPage + 1}
	tasks, err := s.tasks.List(ctx, filter)
	if err != nil {
		return nil, err
	}
	if len(tasks) > tasksPerPage {
		tasks = tasks[:tasksPerPage]
		d.More = tasks[tasksPerPage-1].ID
	}
	d.Tasks, err = s.rows(ctx, tasks, shownTicks, frame.Zone(r))
	return d, err
}
