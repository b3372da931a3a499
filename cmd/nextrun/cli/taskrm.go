package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/periodic"
)

func (p *program) taskRemoveCommand() *cobra.Command {
	return p.eachTask("rm", "Delete tasks; their jobs and the record of their ticks stay", "deleted",
		func(ctx context.Context, tasks *periodic.Tasks, id string) error { return tasks.Delete(ctx, id) })
}
