package rows

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/store"
)

// EventCommand returns `nextrun event` with its commands.
func EventCommand(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{Use: "event", Short: "Show events and publish them again"}, listEvents(env), resendEvents(env))
}

func listEvents(env *ui.Env) *cobra.Command {
	filter, status := outbox.Filter{Limit: 100}, ui.Choice{}
	for _, s := range outbox.Statuses() {
		status.Allowed = append(status.Allowed, string(s))
	}
	list := &List[outbox.Record]{
		Use:   "list",
		Short: "List events, the newest first",
		Of:    &Period{What: "events created", Since: &filter.Since, Until: &filter.Until, Limit: &filter.Limit},
		Task:  &filter.AggregateID,
		None:  "none; a task with the sink event makes them: nextrun task add --help",
		Table: ui.NewTable("EVENT", "TOPIC", "TYPE", "AGGREGATE", "VERSION", "CREATED", "STATUS", "ATTEMPTS", "PROBLEM").
			IDs("EVENT").Least("VERSION", "ATTEMPTS", "TYPE", "TOPIC", "CREATED"),
		Row: func(r *outbox.Record) (any, []any) {
			return eventJSON(r), []any{
				r.ID, r.Topic, r.Type, r.AggregateID, r.AggregateVersion, env.Ago(r.Created), r.Status, r.Attempts, text.FirstLine(r.Problem),
			}
		},
	}
	list.Read = func(ctx context.Context, db *store.DB) ([]outbox.Record, error) {
		filter.Status, filter.WithPayload = outbox.Status(status.Value), list.JSON
		return db.Outbox().List(ctx, filter)
	}
	command := list.Command(env)
	flags := command.Flags()
	flags.StringVar(&filter.Topic, "topic", "", "only those of this topic")
	flags.StringVar(&filter.Type, "type", "", "only those of this type")
	flags.StringVar(&filter.AggregateID, "task", "", "only those of the task, or of another aggregate, with this `id`")
	flags.Var(&status, "status", "only those in this status")
	return command
}

// eventJSON is the JSON form of an event: the columns of it and of its message, null
// where they are NULL.
func eventJSON(r *outbox.Record) ui.Object {
	return ui.Object{
		{"id", r.ID}, {"topic", r.Topic}, {"type", r.Type}, {"aggregate_id", r.AggregateID}, {"aggregate_version", r.AggregateVersion},
		{"payload", r.Payload}, {"due", ui.OrNull(r.Due)}, {"created", r.Created},
		{"status", ui.OrNull(r.Status)}, {"published", ui.OrNull(r.Published)}, {"attempts", r.Attempts}, {"refusals", r.Refusals},
		{"problem", ui.OrNull(r.Problem)}, {"retry", ui.OrNull(r.Retry)}, {"dead", ui.OrNull(r.Dead)},
	}
}

func resendEvents(env *ui.Env) *cobra.Command {
	var dead string
	command := &cobra.Command{
		Use:   "resend EVENT... | --dead TOPIC",
		Short: "Publish events again",
		Long: `Publish events again under the same ids, both published and dead ones. Receivers
get them out of order: after events that were published in the meantime. A
part of an id is enough, if no other event's has it.`,
		RunE: func(c *cobra.Command, texts []string) error {
			if (dead == "") == (len(texts) == 0) {
				return ui.Usagef("name either events or --dead TOPIC")
			}
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				ids, err := findAll(texts, func(text string) (string, error) { return findEvent(c.Context(), db.Outbox(), text) })
				if err == nil && dead != "" {
					ids, err = db.Outbox().ResendDead(c.Context(), dead)
				} else if err == nil {
					ids, err = db.Outbox().Resend(c.Context(), ids)
				}
				if err != nil {
					return err
				}
				return env.Printf("to be published again: %d\n", len(ids))
			})
		},
	}
	command.Flags().StringVar(&dead, "dead", "", "all dead events of this `topic`")
	return command
}
