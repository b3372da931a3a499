package task

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

func skipCommand(env *ui.Env) *cobra.Command {
	var reason string
	var isUndo bool
	command := &cobra.Command{
		Use:   "skip ID [TIME]",
		Short: "Skip one tick of a task, the next run by default",
		Long: `Skip one tick of a task, the next run unless TIME says when another one is due. When it
falls due, it is recorded as skipped, with who decided that and why. The timer goes on,
and "nextrun task run" runs the task all the same. --undo takes back a skip, the first
one unless TIME names another.`,
		Example: `  nextrun task skip nightly-backup --reason 'the server moves'
  nextrun task skip nightly-backup 2026-12-24T02:00:00Z
  nextrun task skip nightly-backup --undo`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return ui.Arguments("ID", "TIME")(c, args)
			}
			return ui.Arguments("ID")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			var due time.Time
			if len(args) > 1 {
				var err error
				if due, err = ui.ParseWhen(args[1], ui.Clock{Now: env.Now(), Zone: env.Zone}); err != nil {
					return ui.Usagef("TIME is %q: %v", args[1], err)
				}
			}
			return withTasks(c.Context(), env, func(tasks *periodic.Tasks) error {
				if isUndo {
					return unskip(c.Context(), env, tasks, args[0], due)
				}
				return skip(c.Context(), env, tasks, args[0], due, reason)
			})
		},
	}
	command.Flags().StringVar(&reason, "reason", "", "why, for people")
	command.Flags().BoolVar(&isUndo, "undo", false, "let a tick take place that was to be skipped")
	return command
}

func skip(ctx context.Context, env *ui.Env, tasks *periodic.Tasks, id string, due time.Time, reason string) error {
	done, err := tasks.Skip(ctx, id, due, days.Note(env.Person(), reason))
	if err != nil {
		return err
	}
	id = ui.Cell(id)
	return env.Printf("%s: skips the tick of %s; to undo that: nextrun task skip %s %s --undo\n", id, env.Moment(done), id, done.UTC().Format(time.RFC3339Nano))
}

func unskip(ctx context.Context, env *ui.Env, tasks *periodic.Tasks, id string, due time.Time) error {
	done, err := tasks.Unskip(ctx, id, due)
	if err != nil {
		return err
	}
	return env.Printf("%s: the tick of %s takes place\n", ui.Cell(id), env.Moment(done))
}
