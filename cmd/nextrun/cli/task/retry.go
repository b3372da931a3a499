package task

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func retryCommand(env *ui.Env) *cobra.Command {
	tick := ui.TimeFlag{Past: true}
	c := &cobra.Command{
		Use:   "retry ID",
		Short: "Put the job of a task back into the queue of another project",
		Long: `Put the job of a task that failed or was cancelled back into its queue: that of
River, Graphile Worker or pg-boss. Without --tick it is the newest one that ended.
Its end is recorded anew. For a job in nextrun's own queue use: nextrun job retry`,
		Args: ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return env.WithQueues(c.Context(), func(db *store.DB, queues ui.Queues) error {
				if err := periodic.NewTasks(db.Tasks()).With(queues).Retry(c.Context(), args[0], tick.Value); err != nil {
					return taskProblem(err)
				}
				return env.Printf("put back: the job of %s\n", args[0])
			})
		},
	}
	c.Flags().Var(&tick, "tick", "when the tick was due (default: the newest whose job ended)")
	return c
}
