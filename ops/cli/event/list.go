package event

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/cli/find"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func listCommand(env *ui.Env) *cobra.Command {
	var filter outbox.Filter
	var list ui.ListFlags
	status := ui.Choice{}
	for _, s := range outbox.Statuses() {
		status.Allowed = append(status.Allowed, string(s))
	}
	command := &cobra.Command{
		Use:   "list",
		Short: "List events, the newest first",
		Args:  ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := list.Bounds(&filter.Since, &filter.Until, &filter.Limit); err != nil {
				return err
			}
			filter.Status, filter.WithPayload = outbox.Status(status.Value), list.JSON
			return withOutbox(c.Context(), env, func(db *store.DB, admin outbox.Admin) error {
				records, err := admin.List(c.Context(), filter)
				if err == nil && len(records) == 0 && c.Flags().Changed("task") {
					err = find.Asked(c.Context(), periodic.NewTasks(db.Tasks()), filter.AggregateID, "")
				}
				if err != nil {
					return err
				}
				t := ui.NewTable("EVENT", "TOPIC", "TYPE", "AGGREGATE", "VERSION", "CREATED", "STATUS", "ATTEMPTS", "PROBLEM").IDs("EVENT").
					Least("VERSION", "ATTEMPTS", "TYPE", "TOPIC", "CREATED").IfEmpty(ui.IfNone(c, "none; a task with the sink event makes them: nextrun task add --help"))
				return ui.PrintList(env, &list, t, records, func(r *outbox.Record) (any, []any) {
					return eventJSON(r), []any{
						r.ID, r.Topic, r.Type, r.AggregateID, r.AggregateVersion, env.Ago(r.Created), r.Status, r.Attempts, text.FirstLine(r.Problem),
					}
				})
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&filter.Topic, "topic", "", "only those of this topic")
	flags.StringVar(&filter.Type, "type", "", "only those of this type")
	flags.StringVar(&filter.AggregateID, "task", "", "only those of the task, or of another aggregate, with this `id`")
	flags.Var(&status, "status", "only those in this status")
	flags.BoolVar(&filter.Oldest, "oldest", false, "the oldest first")
	list.RegisterLatest(command, "events created", 100)
	return command
}
