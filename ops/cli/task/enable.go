package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

func enableCommand(env *ui.Env) *cobra.Command {
	return severalTasks(env, "enable", "Enable tasks; ticks of the time while they were disabled are not caught up",
		func(ctx context.Context, tasks *periodic.Tasks, id string) (string, error) {
			return "enabled " + ui.Cell(id), tasks.Enable(ctx, id)
		})
}

func disableCommand(env *ui.Env) *cobra.Command {
	command := severalTasks(env, "disable", "Disable tasks; jobs that are already submitted still run",
		func(ctx context.Context, tasks *periodic.Tasks, id string) (string, error) {
			return "disabled " + ui.Cell(id), tasks.Disable(ctx, id)
		})
	command.Long = `Disable tasks: they have no ticks until they are enabled, and jobs that are already
submitted still run. To skip ticks for a while and see who did it and why:
nextrun task pause`
	return command
}
