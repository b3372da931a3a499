package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/periodic"
)

func (p *program) taskEnableCommand() *cobra.Command {
	return p.eachTask("enable", "Enable tasks; their ticks up to now are not made up for", "enabled",
		func(ctx context.Context, tasks *periodic.Tasks, id string) error { return tasks.Enable(ctx, id) })
}

func (p *program) taskDisableCommand() *cobra.Command {
	return p.eachTask("disable", "Disable tasks; jobs that were submitted before still run", "disabled",
		func(ctx context.Context, tasks *periodic.Tasks, id string) error { return tasks.Disable(ctx, id) })
}
