package cli

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/periodic"
)

func (p *program) taskSetCommand() *cobra.Command {
	var f taskFlags
	command := &cobra.Command{
		Use:     "set ID FLAG...",
		Short:   "Change a task",
		Long:    "Change the columns of a task that are given as flags. The plan is kept unless timer, starts or ends change.",
		Example: `  nextrun task set nightly-backup --timer '*-*-* 03:30' --deadline 1h`,
		Args:    arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if !f.apply(c, &periodic.Task{}) {
				return usagef("nothing to change: give the columns as flags, such as --timer")
			}
			if err := p.fromStdin(&f.args); err != nil {
				return err
			}
			return p.withTasks(c.Context(), func(tasks *periodic.Tasks) error {
				err := tasks.Update(c.Context(), args[0], func(t *periodic.Task) error {
					f.apply(c, t)
					return nil
				})
				if err != nil {
					return err
				}
				return p.printPlanned(c.Context(), tasks, "changed", args[0])
			})
		},
	}
	f.register(command)
	return command
}
