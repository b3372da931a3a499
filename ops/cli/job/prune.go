package job

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func pruneCommand(env *ui.Env) *cobra.Command {
	var states stateFlag
	age := ui.AgeFlag()
	command := &cobra.Command{
		Use:     "prune --older-than AGE",
		Short:   "Delete jobs that have ended, with their logs",
		Example: "  nextrun job prune --older-than 30d --state success,cancelled",
		Args:    ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if age.Value == nil {
				return ui.Usagef("give an age: --older-than 30d, or --older-than 0 for all that have ended")
			}
			for _, s := range states {
				if !s.Final() {
					return ui.Usagef("jobs that are %s have not ended; use --state success, failed or cancelled", s)
				}
			}
			return withQueue(c.Context(), env, func(queue *jobqueue.Queue) error {
				n, err := queue.Prune(c.Context(), jobqueue.PruneFilter{OlderThan: *age.Value, States: states})
				return errors.Join(env.Printf("deleted jobs: %d\n", n), err)
			})
		},
	}
	command.Flags().Var(&age, "older-than", "only jobs that ended longer ago than this")
	command.Flags().Var(&states, "state", "only those in this state; may be given more than once")
	return command
}
