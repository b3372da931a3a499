package task

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

func skipCommand(env *ui.Env) *cobra.Command {
	var o days.Override
	command := oneTick(env, "skip", "Skip one tick of a task, the next run by default", &o, func(ctx context.Context, tasks *periodic.Tasks, id string) (string, error) {
		o.Who = env.Person()
		done, err := tasks.Skip(ctx, id, o)
		return "skips the tick of " + env.Moment(done.Due) + undo(id, done), err
	})
	command.Long = `Skip one tick of a task, the next run unless --tick names another. When it falls due,
it is recorded as skipped, with who decided that and why. The timer goes on, and
"nextrun task run" runs the task all the same. If the timer is changed so that it has
no tick at that time, the skip has no effect.`
	command.Example = `  nextrun task skip nightly-backup --reason 'the server moves'
  nextrun task skip nightly-backup --tick 2026-12-24T02:00:00Z`
	command.Flags().StringVar(&o.Reason, "reason", "", "why, for people")
	return command
}

func moveCommand(env *ui.Env) *cobra.Command {
	var o days.Override
	var to ui.TimeFlag
	command := oneTick(env, "move", "Move one tick of a task to another time", &o, func(ctx context.Context, tasks *periodic.Tasks, id string) (string, error) {
		o.Who, o.To = env.Person(), to.Value
		done, err := tasks.Move(ctx, id, o)
		return "moves the tick of " + env.Moment(done.Due) + " to " + env.Moment(done.To) + undo(id, done), err
	})
	command.Long = `Move one tick of a task, the next run unless --tick names another. It takes place at
--to, whatever its calendars say about that time, and its record has both times. If
another tick of the task takes place then, it counts once.`
	command.Example = `  nextrun task move nightly-backup --tick 2026-12-24T02:00:00Z --to 2026-12-24T22:00:00Z`
	command.Flags().Var(&to, "to", "when it takes place instead")
	command.Flags().StringVar(&o.Reason, "reason", "", "why, for people")
	_ = command.MarkFlagRequired("to")
	return command
}

func unskipCommand(env *ui.Env) *cobra.Command {
	var o days.Override
	command := oneTick(env, "unskip", "Undo the skip or the move of a tick", &o, func(ctx context.Context, tasks *periodic.Tasks, id string) (string, error) {
		done, err := tasks.Unskip(ctx, id, o.Due)
		return "the tick of " + env.Moment(done.Due) + " takes place at its time again", err
	})
	command.Long = `Undo the skip or the move of a tick to come, the first one unless --tick names
another by its old or new time.`
	command.Example = `  nextrun task unskip nightly-backup`
	return command
}

// oneTick makes a command about one tick of a task. do returns what it did.
func oneTick(env *ui.Env, use, short string, o *days.Override, do func(context.Context, *periodic.Tasks, string) (string, error)) *cobra.Command {
	var tick ui.TimeFlag
	command := &cobra.Command{
		Use:   use + " ID",
		Short: short,
		Args:  ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return withTasks(c.Context(), env, func(tasks *periodic.Tasks) error {
				o.Due = tick.Value
				done, err := do(c.Context(), tasks, args[0])
				if err != nil {
					return err
				}
				return env.Printf("%s: %s\n", ui.Cell(args[0]), done)
			})
		},
	}
	command.Flags().Var(&tick, "tick", "when the tick is due")
	return command
}

func undo(id string, o days.Override) string {
	return "; to undo that: nextrun task unskip " + ui.Cell(id) + " --tick " + o.Due.UTC().Format(time.RFC3339Nano)
}
