package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/periodic"
)

func (p *program) taskRunCommand() *cobra.Command {
	command := p.eachTask("run", "Run tasks now, beside their timers", "to run now:",
		func(ctx context.Context, tasks *periodic.Tasks, id string) error { return tasks.RunNow(ctx, id) })
	command.Long = `Run tasks now: a scheduler submits each at once, and its timer goes on as before.
The job of a task that is disabled is submitted right here.`
	return command
}
