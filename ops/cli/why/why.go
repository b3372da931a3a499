package why

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/find"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/diagnosis"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun why`.
func Command(env *ui.Env) *cobra.Command {
	var asJSON bool
	at := ui.TimeFlag{Past: true}
	command := &cobra.Command{
		Use:   "why ID",
		Short: "Explain a task: did it work, and if not, why?",
		Long: `Explain a task in one screen: when it runs next and why not sooner, what became
of its last ticks and jobs, the end of the output of its last failure, and what
to do. The beginning of an ID is enough if no other task's begins so.

With --at, tell the story of the tick at that time, or of the nearest one: when it
was due, decided, submitted and claimed, each attempt, the end of the output and
the hooks, with the times between them.`,
		Example: `  nextrun why nightly-backup
  nextrun why nightly-backup --at 'tuesday 02:00' --zone Europe/Berlin
  nextrun why nightly-backup --at 2026-03-28T02:00Z --json`,
		Args: ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return env.WithQueues(c.Context(), func(db *store.DB, queues ui.Queues) error {
				id, err := find.Task(c.Context(), periodic.NewTasks(db.Tasks()), args[0])
				if err != nil {
					return diagnosis.WithHolders(c.Context(), db, err)
				}
				if !at.Value.IsZero() {
					s, err := diagnosis.Tell(c.Context(), db, id, at.Value, env.Zone)
					if err != nil || asJSON {
						return cmp.Or(err, env.PrintJSON(s))
					}
					return story(env, s)
				}
				f, err := diagnosis.Read(c.Context(), db, queues, id)
				if err != nil {
					return err
				}
				if asJSON {
					return env.PrintJSON(newReportJSON(f, f.Findings()))
				}
				return report(env, f, f.Findings())
			})
		},
	}
	command.Flags().Var(&at, "at", "tell what became of the tick at this time, or of the nearest one")
	ui.JSONFlag(command, &asJSON)
	return command
}
