package task

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/ops/cli/timer"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun task` with its commands.
func Command(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{
		Use:   "task",
		Short: "Manage periodic tasks, the rows of the table periodic_task",
	},
		addCommand(env), listCommand(env), screenCommand(env, "show"), setCommand(env),
		enableCommand(env), disableCommand(env), pauseCommand(env), resumeCommand(env),
		skipCommand(env), runCommand(env),
		backfillCommand(env), removeCommand(env), applyCommand(env), exportCommand(env),
	)
}

// withTasks runs fn with the tasks of the database.
func withTasks(ctx context.Context, env *ui.Env, fn func(*periodic.Tasks) error) error {
	return env.WithDatabase(ctx, func(db *store.DB) error {
		return taskProblem(fn(periodic.NewTasks(db.Tasks())))
	})
}

// withQueues runs fn with the tasks of the database and the queues of the
// configuration file, for commands that submit or say where jobs go.
func withQueues(ctx context.Context, env *ui.Env, fn func(*periodic.Tasks, *warner) error) error {
	return env.WithQueues(ctx, func(db *store.DB, queues ui.Queues) error {
		w, err := newWarner(ctx, env, db, queues)
		if err != nil {
			return err
		}
		return taskProblem(fn(periodic.NewTasks(db.Tasks()).With(queues), w))
	})
}

// taskProblem makes wrong usage of a task that is not good, and says how to go
// on where a task does not exist or exists already.
func taskProblem(err error) error {
	var parseErr *calendar.ParseError
	var taskErr *periodic.TaskError
	var sinkErr *periodic.SinkError
	switch {
	case errors.As(err, &parseErr):
		return timer.BadTimer(err)
	case errors.As(err, &taskErr):
		return ui.Usagef("%v", err)
	case errors.As(err, &sinkErr):
		return fmt.Errorf("%w; %s", err, ui.NameTheFile)
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("%w; see: nextrun task list", err)
	case errors.Is(err, store.ErrDuplicate):
		return fmt.Errorf("%w; change it with: nextrun task set", err)
	}
	return err
}
