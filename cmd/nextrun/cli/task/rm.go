package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

func removeCommand(env *ui.Env) *cobra.Command {
	return eachTask(env, "rm", "Delete tasks; their jobs and recorded ticks stay", "deleted",
		func(ctx context.Context, tasks *periodic.Tasks, id string) error { return tasks.Delete(ctx, id) })
}
