package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
)

func (p *program) jobPruneCommand() *cobra.Command {
	var states stateFlag
	var age ageFlag
	command := &cobra.Command{
		Use:     "prune --older-than AGE",
		Short:   "Delete jobs that have ended, with their logs",
		Example: "  nextrun job prune --older-than 30d --state success,cancelled",
		Args:    arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("older-than") {
				return usagef("say how old: --older-than 30d; all that have ended: --older-than 0")
			}
			for _, s := range states {
				if !s.Final() {
					return usagef("jobs that are %s have not ended; use --state success, failed or cancelled", s)
				}
			}
			return p.withQueue(c.Context(), func(queue *jobqueue.Queue) error {
				n, err := queue.Prune(c.Context(), jobqueue.PruneFilter{OlderThan: time.Duration(age), States: states})
				return errors.Join(p.printf("deleted jobs: %d\n", n), err)
			})
		},
	}
	command.Flags().Var(&age, "older-than", "finished longer ago than that")
	command.Flags().Var(&states, "state", "only those in that state; may be given more than once")
	return command
}
