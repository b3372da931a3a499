package task

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/periodic"
)

func exportCommand(env *ui.Env) *cobra.Command {
	var filter periodic.TaskFilter
	command := &cobra.Command{
		Use:   "export",
		Short: "Write the tasks as a file for task apply",
		Args:  ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			filter.WithArgs = true
			return withTasks(c.Context(), env, func(tasks *periodic.Tasks) error {
				list, err := tasks.List(c.Context(), filter)
				if err != nil {
					return err
				}
				return config.WriteTasks(env.Stdout, list)
			})
		},
	}
	command.Flags().StringVar(&filter.Task, "task", "", "only those of this task `name`")
	command.Flags().StringVar(&filter.Group, "group", "", "only those of this group")
	return command
}
