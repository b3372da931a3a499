package event

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

func listCommand(env *ui.Env) *cobra.Command {
	var filter outbox.Filter
	var period ui.PeriodFlags
	status := ui.Choice{}
	for _, s := range outbox.Statuses() {
		status.Allowed = append(status.Allowed, string(s))
	}
	var asJSON bool
	command := &cobra.Command{
		Use:   "list",
		Short: "List events, the newest first",
		Args:  ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if filter.Limit < 1 {
				return ui.Usagef("-n is %d; use 1 or more", filter.Limit)
			}
			var err error
			if filter.Since, filter.Until, err = period.Bounds(); err != nil {
				return err
			}
			filter.Status, filter.WithPayload = outbox.Status(status.Value), asJSON
			return withOutbox(c.Context(), env, func(_ *store.DB, admin outbox.Admin) error {
				records, err := admin.List(c.Context(), filter)
				if err != nil {
					return err
				}
				empty := "none; a task with the sink event makes them: nextrun task add --help"
				if filter.Status != "" {
					empty = "none in this status"
				}
				return printEvents(env, records, empty, asJSON)
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&filter.Topic, "topic", "", "only those of this topic")
	flags.StringVar(&filter.Type, "type", "", "only those of this type")
	flags.StringVar(&filter.AggregateID, "task", "", "only those of the task with this `id`")
	flags.StringVar(&filter.AggregateID, "aggregate", "", "only those of the aggregate with this `id`; tasks are aggregates")
	period.Register(command, "events created")
	flags.Var(&status, "status", "only those in this status")
	flags.IntVarP(&filter.Limit, "limit", "n", 100, "maximum number")
	flags.BoolVar(&filter.Oldest, "oldest", false, "the oldest first")
	ui.JSONFlag(command, &asJSON)
	return command
}

// printEvents prints a table of events, or the text for none.
func printEvents(env *ui.Env, records []outbox.Record, empty string, asJSON bool) error {
	lines := []eventJSON{}
	t := ui.NewTable("EVENT", "TOPIC", "TYPE", "AGGREGATE", "VERSION", "CREATED", "STATUS", "ATTEMPTS", "PROBLEM").IDs("EVENT").
		Least("VERSION", "ATTEMPTS", "TYPE", "TOPIC", "CREATED").
		IfEmpty(empty)
	for i := range records {
		r := &records[i]
		lines = append(lines, newEventJSON(r))
		t.Add(r.ID, r.Topic, r.Type, r.AggregateID, r.AggregateVersion, env.Ago(r.Created), r.Status, r.Attempts, text.FirstLine(r.Problem))
	}
	return env.PrintTable(t, lines, asJSON)
}
