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
		Short: "Pause a task until a time",
		Long: `Pause a task until a time: its column starts becomes its first tick after the
pause. To end the pause early: nextrun task set ID --starts none`,
		Args: ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if until.Value.IsZero() {
				return ui.Usagef("missing --until TIME; to pause the task without an end: nextrun task disable %s", args[0])
			}
			return withTasks(c.Context(), env, func(tasks *periodic.Tasks) error {
				if err := tasks.Pause(c.Context(), args[0], until.Value); err != nil {
					return err
				}
				return printPlanned(c.Context(), env, tasks, "paused", args[0])
			})
		},
	}
	command.Flags().Var(&until, "until", "no tick before this time")
	return command
}
