package why

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/find"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/ops/diagnosis"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun why`.
func Command(env *ui.Env) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "why ID",
		Short: "Explain a task: did it work, and if not, why?",
		Long: `Explain a task in one screen: when it runs next and why not sooner, what became
of its last ticks and jobs, the end of the output of its last failure, and what
to do. The beginning of an ID is enough if no other task's begins so.`,
		Example: "  nextrun why nightly-backup",
		Args:    ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return env.WithQueues(c.Context(), func(db *store.DB, queues ui.Queues) error {
				id, err := find.Task(c.Context(), periodic.NewTasks(db.Tasks()), args[0])
				if err != nil {
					return diagnosis.WithHolders(c.Context(), db, err)
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
	ui.JSONFlag(command, &asJSON)
	return command
}
