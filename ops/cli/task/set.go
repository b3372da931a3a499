package task

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

func setCommand(env *ui.Env) *cobra.Command {
	var f *ui.ColumnFlags[periodic.Task]
	command := &cobra.Command{
		Use:   "set ID FLAG...",
		Short: "Change a task",
		Long: `Change the columns that you give as flags. The task keeps its plan unless timer,
starts, ends or jitter change.`,
		Example: `  nextrun task set nightly-backup --timer '*-*-* 03:30' --deadline 1h`,
		Args:    ui.Arguments("ID"),

		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			if !f.Apply(&periodic.Task{}) {
				return ui.Usagef("nothing to change: give the columns as flags, such as --timer")
			}
			if err := f.ReadArgs(env.Stdin); err != nil {
				return err
			}
			return withWarnings(c.Context(), env, func(tasks *periodic.Tasks, warn func(*periodic.Task)) error {
				var before, changed periodic.Task
				err := tasks.Update(c.Context(), args[0], func(t *periodic.Task) error {
					before = *t
					f.Apply(t)
					changed = *t
					return nil
				})
				if err != nil {
					return taskProblem(err)
				}
				warn(&changed)
				if changed.Origin != "" {
					env.Complain("note: %s declares this task, and undoes the change when it applies its tasks next", changed.Origin)
				}
				if drops(&before, &changed) {
					env.Complain("the tick of %s was due and not submitted yet; it is dropped, because the new timer plans from now on. To run the task now: nextrun task run %s",
						env.Moment(before.NextRun), text.Word(args[0]))
				}
				return printPlanned(c.Context(), env, tasks, "changed", args[0])
			})
		},
	}
	f = ui.NewColumnFlags(command, column.OfUsers(periodic.Columns()), nil)
	return command
}

// drops reports whether a change drops a tick that is due and that no scheduler has submitted.
func drops(before, after *periodic.Task) bool {
	return before.Enabled && before.NextRun.After(periodic.Unplanned) && before.NextRun.Before(time.Now()) &&
		(before.Timer != after.Timer || !before.Starts.Equal(after.Starts) || !before.Ends.Equal(after.Ends) || before.Jitter != after.Jitter)
}
