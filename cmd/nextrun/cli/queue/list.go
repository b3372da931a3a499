package queue

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func listCommand(env *ui.Env) *cobra.Command {
	var list ui.ListFlags
	command := &cobra.Command{
		Use:   "list",
		Short: "List the queues of the configuration",
		Long: `List the queues of the section queues of the configuration: the version that was
found in the database, and what keeps nextrun from feeding the queue.`,
		Example: `  nextrun queue list --config nextrun.yaml`,
		Args:    ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.WithQueues(c.Context(), func(_ *store.DB, configured ui.Queues) error {
				var rows []queueJSON
				err := configured.Inspect(c.Context(), func(name periodic.Sink, report foreign.Report) error {
					rows = append(rows, newQueueJSON(string(name), report))
					return nil
				})
				if err != nil {
					return err
				}
				t := ui.NewTable("NAME", "TYPE", "VERSION", "PROBLEM").IfEmpty("none; jobs go to the table job. To feed another queue: section queues of --config FILE")
				return ui.PrintList(env, &list, t, rows, func(q *queueJSON) (any, []any) { return q, []any{q.Name, q.Type, q.Version, q.text()} })
			})
		},
	}
	list.Register(command)
	return command
}
