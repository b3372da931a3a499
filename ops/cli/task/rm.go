package task

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

func removeCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "rm ID...",
		Short: "Delete tasks; their jobs and recorded ticks stay",
		Args:  ui.SeveralArguments("ID"),
		RunE: func(c *cobra.Command, ids []string) error {
			return withTasks(c.Context(), env, func(tasks *periodic.Tasks) error {
				for _, id := range ids {
					if err := tasks.Delete(c.Context(), id); err != nil {
						return err
					}
					if err := env.Printf("deleted %s\n", ui.Cell(id)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}
