package task

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/find"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/diagnosis"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func listCommand(env *ui.Env) *cobra.Command {
	var filter periodic.TaskFilter
	var state ui.Choice
	for _, s := range diagnosis.TaskStates() {
		state.Allowed = append(state.Allowed, string(s))
	}
	var list ui.ListFlags
	command := &cobra.Command{
		Use:   "list",
		Short: "List tasks: their last run, its result, and their next run",
		Example: `  nextrun task list --state attention
  nextrun task list --group reports --state failed`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			filter.State = periodic.TaskState(state.Value)
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				filter.WithArgs = list.JSON
				tasks := periodic.NewTasks(db.Tasks())
				found, err := tasks.List(c.Context(), filter)
				if err == nil && len(found) == 0 {
					err = find.Asked(c.Context(), tasks, "", filter.Group)
				}
				if err != nil {
					return taskProblem(err)
				}
				results, err := readResults(c.Context(), db, filter, found)
				if err != nil {
					return taskProblem(err)
				}
				none := ui.IfNone(c, "none; to add one: nextrun task add ID --handler NAME --timer 'TIMER'; to translate a crontab: nextrun import crontab")
				return printTasks(env, none, found, results, &list)
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&filter.Task, "handler", "", "only those whose jobs this handler runs")
	flags.StringVar(&filter.Group, "group", "", "only those of this group")
	flags.Var(&state, "state", "only those in this state")
	flags.IntVarP(&filter.Limit, "limit", "n", 0, "maximum number (default all)")
	ui.JSONFlag(command, &list.JSON)
	return command
}

func printTasks(env *ui.Env, none string, tasks []periodic.Task, results results, list *ui.ListFlags) error {
	t := ui.NewTable("ID", "RESULT", "LAST RUN", "NEXT RUN", "AT", "TIMER", "HANDLER", "PROBLEM").Least("AT", "HANDLER", "TIMER").IfEmpty(none)
	return ui.PrintList(env, list, t, tasks, func(one *periodic.Task) (any, []any) {
		next, at := plan(env, one)
		return results.json(one), []any{one.ID, results.of(env, one), env.Ago(lastRun(results.outcomes[one.ID])), next, at, one.Timer, one.Task, one.Problem}
	})
}

// plan says how far away the next run of a task is, and when that is.
func plan(env *ui.Env, t *periodic.Task) (next, at string) {
	switch {
	case !t.Enabled:
		return "disabled", ""
	case t.Pause.At(env.Now()) && t.Pause.Until.IsZero():
		return "paused", ""
	case t.Pause.At(env.Now()):
		return "paused", "until " + env.Moment(t.Pause.Until)
	case t.Blocked() != "":
		return "blocked", ""
	case !t.NextRun.Before(periodic.Never):
		return "never", ""
	case t.Unplanned():
		return "not planned yet", ""
	}
	run := t.NextRun
	if now := env.Now(); !t.Days.Empty() { // the planned tick may be left out
		for u := range periodic.Preview([]periodic.Task{*t}, now, now.AddDate(1, 0, 0)) {
			run = u.NextRun
			break
		}
	}
	return env.Ago(run), env.Moment(run)
}
