package task

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

func pauseCommand(env *ui.Env) *cobra.Command {
	var until ui.TimeFlag
	command := &cobra.Command{
		Use:   "pause ID --until TIME",
		Short: "Keep a task from having ticks before a time",
		Long: `Keep a task from having ticks before a time: its column starts is set to its first
tick then. End the pause early with: nextrun task set ID --starts none`,
		Args: ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if until.Value.IsZero() {
				return ui.Usagef("missing --until; without an end a task is paused by: nextrun task disable %s", args[0])
			}
			return withTasks(c.Context(), env, func(tasks *periodic.Tasks) error {
				if err := tasks.Pause(c.Context(), args[0], until.Value); err != nil {
					return err
				}
				return printPlanned(c.Context(), env, tasks, "paused", args[0])
			})
		},
	}
	command.Flags().Var(&until, "until", "no tick before that time")
	return command
}
