package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

func addCommand(env *ui.Env) *cobra.Command {
	var f *ui.ColumnFlags[periodic.Task]
	var disabled bool
	command := &cobra.Command{
		Use:     "add ID --handler NAME --timer 'TIMER'",
		Short:   "Add a task",
		Example: `  nextrun task add nightly-backup --handler backup --timer '*-*-* 02:00 Europe/Berlin'`,
		Args:    ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.ReadArgs(env.Stdin); err != nil {
				return err
			}
			task := periodic.NewTask(args[0], "", "")
			task.Enabled = !disabled
			f.Apply(&task)
			if task.Task == "" || task.Timer == "" {
				return ui.Usagef("a task needs --handler NAME and --timer 'TIMER'")
			}
			return withWarnings(c.Context(), env, func(tasks *periodic.Tasks, warn func(*periodic.Task)) error {
				if err := tasks.Add(c.Context(), task); err != nil {
					return taskProblem(err)
				}
				warn(&task)
				return printPlanned(c.Context(), env, tasks, "added", task.ID)
			})
		},
	}
	standard := periodic.NewTask("", "", "")
	f = ui.NewColumnFlags(command, column.OfUsers(periodic.Columns()), &standard)
	command.Flags().BoolVar(&disabled, "disabled", false, "add the task disabled")
	return command
}

// printPlanned says what was done with a task, and when it elapses next.
func printPlanned(ctx context.Context, env *ui.Env, tasks *periodic.Tasks, done, id string) error {
	task, err := tasks.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := env.Printf("%s %s\n", done, ui.Cell(id)); err != nil {
		return err
	}
	next, err := task.Upcoming(env.Now(), 1)
	if err == nil && len(next) == 0 && task.Timer != calendar.Never {
		env.Complain("warning: it never elapses; check timer, starts and ends")
	}
	switch {
	case err != nil:
		return err
	case !task.Enabled:
		return env.Printf("it is disabled; enable it with: nextrun task enable %s\n", text.Word(id))
	case len(next) == 0:
		return nil
	}
	return printUpcoming(env, &task)
}
