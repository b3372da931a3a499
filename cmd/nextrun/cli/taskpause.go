package cli

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/periodic"
)

func (p *program) taskPauseCommand() *cobra.Command {
	var until timeFlag
	command := &cobra.Command{
		Use:   "pause ID --until TIME",
		Short: "Keep a task from having ticks before a time",
		Long: `Keep a task from having ticks before a time: its column starts is set to its first
tick then. End the pause early with: nextrun task set ID --starts none`,
		Args: arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if until.value.IsZero() {
				return usagef("missing --until; without an end a task is paused by: nextrun task disable %s", args[0])
			}
			return p.withTasks(c.Context(), func(tasks *periodic.Tasks) error {
				if err := tasks.Pause(c.Context(), args[0], until.value); err != nil {
					return err
				}
				return p.printPlanned(c.Context(), tasks, "paused", args[0])
			})
		},
	}
	command.Flags().Var(&until, "until", "no tick before that time")
	return command
}
