package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/rows"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/why"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// ShowCommand returns `nextrun task show`, which is also `nextrun why`.
func ShowCommand(env *ui.Env, name string) *cobra.Command {
	at, asJSON := ui.TimeFlag{Past: true}, false
	command := &cobra.Command{
		Use:   name + " ID",
		Short: "Show a task: did it work, and if not, why? When does it run next?",
		Long: `Show a task in one screen: how it is doing and why, when it runs next, its columns
without those that have their default, what became of its last ticks and jobs, the
end of the output of its last failure, and what to do. A part of an ID is enough,
if no other task's has it; --json has all columns.

With --at, tell the story of the tick at that time, or of the nearest one: when it
was due, decided and submitted, the last attempt of its job, the end of the output
and the hooks.`,
		Example: `  nextrun why nightly-backup
  nextrun why nightly-backup --at 'tuesday 02:00' --zone Europe/Berlin
  nextrun why nightly-backup --at 2026-03-28T02:00Z --json`,
		Args: ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return env.WithQueues(c.Context(), func(db *store.DB, queues ui.Queues) error {
				id, err := rows.FindTask(c.Context(), periodic.NewTasks(db.Tasks()), args[0])
				switch {
				case err != nil:
					return why.WithHolders(c.Context(), db, err)
				case at.Value.IsZero():
					return taskProblem(show(c.Context(), env, db, queues, id, asJSON))
				}
				s, err := why.Tell(c.Context(), db, id, at.Value, env.Zone)
				switch {
				case err != nil:
					return taskProblem(err)
				case asJSON:
					return env.PrintJSON(s)
				}
				return printStory(env, s)
			})
		},
	}
	ui.JSONFlag(command, &asJSON)
	command.Flags().Var(&at, "at", "tell what became of the tick at this time, or of the nearest one")
	return command
}

// show shows all about a task.
func show(ctx context.Context, env *ui.Env, db *store.DB, queues ui.Queues, id string, asJSON bool) error {
	f, err := why.Explain(ctx, db, queues, id)
	if err != nil {
		return err
	}
	s := screen{f, f.Findings(env.Zone)}
	if asJSON {
		return s.printJSON(env)
	}
	return s.print(env)
}
