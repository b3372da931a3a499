package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

func enableCommand(env *ui.Env) *cobra.Command {
	return eachTask(env, "enable", "Enable tasks; ticks of the time while they were disabled are not caught up", "enabled",
		func(ctx context.Context, tasks *periodic.Tasks, id string) error { return tasks.Enable(ctx, id) })
}

func disableCommand(env *ui.Env) *cobra.Command {
	return eachTask(env, "disable", "Disable tasks; jobs that are already submitted still run", "disabled",
		func(ctx context.Context, tasks *periodic.Tasks, id string) error { return tasks.Disable(ctx, id) })
}
