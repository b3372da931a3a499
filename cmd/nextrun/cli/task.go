package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func (p *program) taskCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "task",
		Short: "Manage periodic tasks, as SQL on the table periodic_task does",
	},
		p.taskAddCommand(), p.taskListCommand(), p.taskShowCommand(), p.taskSetCommand(),
		p.taskEnableCommand(), p.taskDisableCommand(), p.taskPauseCommand(), p.taskRunCommand(),
		p.taskBackfillCommand(), p.taskRemoveCommand(), p.taskApplyCommand(), p.taskExportCommand(),
		p.taskImportCommand(),
	)
}

// withTasks runs fn with the tasks of the database.
func (p *program) withTasks(ctx context.Context, fn func(*periodic.Tasks) error) error {
	return p.withDatabase(ctx, func(db *store.DB) error {
		return taskProblem(fn(periodic.NewTasks(db.Tasks())))
	})
}

// taskProblem makes wrong usage of a task that is not good, and says how to go
// on where a task does not exist or exists already.
func taskProblem(err error) error {
	var parseErr *calendar.ParseError
	var taskErr *periodic.TaskError
	switch {
	case errors.As(err, &parseErr):
		return badTimer(err)
	case errors.As(err, &taskErr):
		return usagef("%v", err)
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("%w; see: nextrun task list", err)
	case errors.Is(err, store.ErrDuplicate):
		return fmt.Errorf("%w; change it with: nextrun task set", err)
	}
	return err
}

// eachTask makes a command that does something with one task after another.
func (p *program) eachTask(use, short, done string, do func(context.Context, *periodic.Tasks, string) error) *cobra.Command {
	return &cobra.Command{
		Use:   use + " ID...",
		Short: short,
		Args:  severalArguments("ID"),
		RunE: func(c *cobra.Command, ids []string) error {
			return p.withTasks(c.Context(), func(tasks *periodic.Tasks) error {
				for _, id := range ids {
					if err := do(c.Context(), tasks, id); err != nil {
						return err
					}
					if err := p.printf("%s %s\n", done, id); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}
