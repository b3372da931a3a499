package tick

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/store"
)

func pruneCommand(env *ui.Env) *cobra.Command {
	var age ui.AgeFlag
	command := &cobra.Command{
		Use:   "prune --older-than AGE",
		Short: "Delete old records of ticks",
		Long: `Delete old records of ticks, in small batches, beside running schedulers, and
what was recorded of people's actions in that time. Ticks that wait for a job stay. A tick without a record counts as one that never ran:
"nextrun task backfill" would submit it.`,
		Example: "  nextrun tick prune --older-than 30d",
		Args:    ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("older-than") {
				return ui.Usagef("give an age: --older-than 30d, or --older-than 0 for all that do not wait for a job")
			}
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				n, err := db.PruneTicks(c.Context(), time.Duration(age))
				return errors.Join(env.Printf("deleted ticks: %d\n", n), err)
			})
		},
	}
	command.Flags().Var(&age, "older-than", "only ticks that were decided longer ago than this")
	return command
}
