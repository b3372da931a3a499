package task

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/rows"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/why"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Why returns `nextrun why`, which is `nextrun task show` and can also tell the story of a tick.
func Why(env *ui.Env) *cobra.Command {
	at := ui.TimeFlag{Past: true}
	command := showCommand(env, "why")
	command.Long += `

With --at, tell the story of the tick at that time, or of the nearest one: when it
was due, decided and submitted, the last attempt of its job, the end of the output
and the hooks.`
	command.Example = `  nextrun why nightly-backup
  nextrun why nightly-backup --at 'tuesday 02:00' --zone Europe/Berlin
  nextrun why nightly-backup --at 2026-03-28T02:00Z --json`
	screen := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		if at.Value.IsZero() {
			return screen(c, args)
		}
		return onTask(c.Context(), env, args[0], func(db *store.DB, _ ui.Queues, id string) error {
			s, err := why.Tell(c.Context(), db, id, at.Value, env.Zone)
			if asJSON, _ := c.Flags().GetBool("json"); err != nil || asJSON {
				return cmp.Or(err, env.PrintJSON(s))
			}
			return printStory(env, s)
		})
	}
	command.Flags().Var(&at, "at", "tell what became of the tick at this time, or of the nearest one")
	return command
}

// showCommand returns the command that shows all about a task in one screen.
func showCommand(env *ui.Env, name string) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   name + " ID",
		Short: "Show a task: did it work, and if not, why? When does it run next?",
		Long: `Show a task in one screen: how it is doing and why, when it runs next, its columns
without those that have their default, what became of its last ticks and jobs, the
end of the output of its last failure, and what to do. A part of an ID is enough,
if no other task's has it; --json has all columns.`,
		Args: ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return onTask(c.Context(), env, args[0], func(db *store.DB, queues ui.Queues, id string) error {
				f, err := why.Read(c.Context(), db, queues, id)
				if err != nil {
					return err
				}
				s := screen{f, f.Findings(env.Zone)}
				if asJSON {
					return s.printJSON(env)
				}
				return s.print(env)
			})
		},
	}
	ui.JSONFlag(command, &asJSON)
	return command
}

// onTask runs fn with the id of the task that a text means.
func onTask(ctx context.Context, env *ui.Env, text string, fn func(db *store.DB, queues ui.Queues, id string) error) error {
	return env.WithQueues(ctx, func(db *store.DB, queues ui.Queues) error {
		id, err := rows.FindTask(ctx, periodic.NewTasks(db.Tasks()), text)
		if err != nil {
			return why.WithHolders(ctx, db, err)
		}
		return taskProblem(fn(db, queues, id))
	})
}
