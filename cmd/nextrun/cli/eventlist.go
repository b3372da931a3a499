package cli

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

func (p *program) eventListCommand() *cobra.Command {
	var filter outbox.Filter
	status := choice{}
	for _, s := range outbox.Statuses() {
		status.allowed = append(status.allowed, string(s))
	}
	var asJSON bool
	command := &cobra.Command{
		Use:   "list",
		Short: "List events, the newest first",
		Args:  arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if filter.Limit < 1 {
				return usagef("-n is %d; use 1 or more", filter.Limit)
			}
			filter.Status = outbox.Status(status.value)
			return p.withOutbox(c.Context(), func(_ *store.DB, admin outbox.Admin) error {
				records, err := admin.List(c.Context(), filter)
				if err != nil {
					return err
				}
				return p.printEvents(records, asJSON)
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&filter.Topic, "topic", "", "only those of that topic")
	flags.StringVar(&filter.Type, "type", "", "only those of that type")
	flags.StringVar(&filter.AggregateID, "aggregate", "", "only those of the aggregate, such as a periodic task, of that `id`")
	flags.Var(&status, "status", "only those in that status")
	flags.IntVarP(&filter.Limit, "number", "n", 100, "at most so many")
	flags.BoolVar(&filter.Oldest, "oldest", false, "the oldest first")
	jsonFlag(command, &asJSON)
	return command
}

func (p *program) printEvents(records []outbox.Record, asJSON bool) error {
	lines := []eventJSON{}
	t := newTable("EVENT", "TOPIC", "TYPE", "AGGREGATE", "VERSION", "CREATED", "STATUS", "ATTEMPTS", "PROBLEM")
	for i := range records {
		r := &records[i]
		lines = append(lines, newEventJSON(r))
		t.add(r.ID, r.Topic, r.Type, r.AggregateID, r.AggregateVersion, p.ago(r.Created), r.Status, r.Attempts, firstLine(r.Problem))
	}
	return p.print(t, lines, asJSON)
}
