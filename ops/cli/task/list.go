package task

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/rows"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func listCommand(env *ui.Env) *cobra.Command {
	var filter periodic.TaskFilter
	var state ui.Choice
	for _, s := range periodic.TaskStates() {
		state.Allowed = append(state.Allowed, string(s))
	}
	list := &rows.List[view.Task]{
		Use:   "list",
		Short: "List tasks: their last run, its result, and their next run",
		Example: `  nextrun task list --state attention
  nextrun task list --group reports --state failed`,
		Group: &filter.Group,
		None:  "none; to add one: nextrun task add ID --handler NAME --timer 'TIMER'; to translate a crontab: nextrun import crontab",
		Table: ui.NewTable("ID", "STATE", "LAST RUN", "NEXT RUN", "AT", "TIMER", "HANDLER", "ATTENTION").Least("AT", "HANDLER", "TIMER"),
		Row: func(f *view.Task) (any, []any) {
			s := f.Status()
			next, at := rows.NextRun(env, f)
			minute := func(at time.Time) string { return at.In(env.Zone).Format("2006-01-02 15:04") }
			return taskJSON(f, s), []any{f.ID, s.State, env.Ago(ended(f.Last())), next, at, f.Timer, f.Task.Task, f.Attention(minute)}
		},
	}
	list.Read = func(ctx context.Context, db *store.DB) ([]view.Task, error) {
		filter.State, filter.WithArgs = periodic.TaskState(state.Value), list.JSON
		found, err := periodic.NewTasks(db.Tasks()).List(ctx, filter)
		if err != nil {
			return nil, err
		}
		return view.Of(db).Tasks(ctx, found, 1)
	}
	command := list.Command(env)
	flags := command.Flags()
	flags.StringVar(&filter.Task, "handler", "", "only those whose jobs this handler runs")
	flags.StringVar(&filter.Group, "group", "", "only those of this group")
	flags.Var(&state, "state", "only those in this `state`: "+strings.Join(state.Allowed, ", "))
	flags.IntVarP(&filter.Limit, "limit", "n", 0, "maximum number (default all)")
	return command
}

// ended is when a run ended or began, or else was submitted.
func ended(r *view.Run) time.Time {
	if r == nil {
		return time.Time{}
	}
	return cmp.Or(r.Finished, r.Started, r.Decided)
}

// taskJSON is the JSON form of a task: its columns, and how it is doing.
func taskJSON(f *view.Task, s view.Status) ui.Object {
	var last, run any // null: there was none
	if len(f.Runs) > 0 {
		last = rows.RunJSON(&f.Runs[0])
	}
	if r := f.Last(); r != nil {
		run = rows.RunJSON(r)
	}
	return append(ui.ColumnsOf(f.Task, periodic.Columns()), [2]any{"state", s.State}, [2]any{"attention", ui.OrNull(s.Cause)}, [2]any{"since", ui.OrNull(s.Since)},
		[2]any{"failures", s.Failures}, [2]any{"next", ui.OrNull(s.Next)}, [2]any{"last_success", ui.OrNull(f.Streak.Success)}, [2]any{"last_tick", last}, [2]any{"last_run", run})
}
