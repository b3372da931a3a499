// Package task holds the commands that manage periodic tasks.
package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/ops/cli/timer"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/docspell"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun task` with its commands.
func Command(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{
		Use:   "task",
		Short: "Manage periodic tasks, the rows of the table periodic_task",
	},
		addCommand(env), listCommand(env), ShowCommand(env, "show"), setCommand(env),
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

// withWarnings runs fn with the tasks of the database. Fn calls warn with those that it writes: it says what may be wrong with
// one although its row is good, such as a sink that another program may have.
func withWarnings(ctx context.Context, env *ui.Env, fn func(tasks *periodic.Tasks, warn func(*periodic.Task)) error) error {
	return env.WithQueues(ctx, func(db *store.DB, queues ui.Queues) error {
		isDocspell, err := docspell.In(db).IsHere(ctx)
		if err != nil {
			return err
		}
		return fn(periodic.NewTasks(db.Tasks()), func(t *periodic.Task) {
			list := []string{queues.Missing(t.Sink), queues.Ignores(t)}
			if !json.Valid([]byte(t.Args)) {
				list = append(list, "args is not JSON")
			}
			if isDocspell {
				list = append(list, docspell.Warnings(t, env.Now())...)
			}
			for _, text := range list {
				if text != "" {
					env.Complain("warning: task %q: %s", t.ID, text)
				}
			}
		})
	})
}
