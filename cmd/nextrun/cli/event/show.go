package event

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/find"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

func showCommand(env *ui.Env) *cobra.Command {
	var asJSON, last bool
	command := &cobra.Command{
		Use:   "show EVENT | --last ID",
		Short: "Show an event and its status",
		Long: `Show an event and its status. The beginning of its id is enough, or any 4 other
characters of it, if no other event matches. With --last, give the id of a task to see
its newest event.`,
		Example: "  nextrun event show 01a1ffd3\n  nextrun event show --last invoice-run",
		Args:    ui.Arguments("EVENT"),
		RunE: func(c *cobra.Command, args []string) error {
			return withOutbox(c.Context(), env, func(db *store.DB, admin outbox.Admin) error {
				var id string
				var err error
				if last {
					id, err = find.LastEvent(c.Context(), db, args[0])
				} else {
					id, err = find.Event(c.Context(), admin, args[0])
				}
				if err != nil {
					return err
				}
				r, err := admin.Show(c.Context(), id)
				if err != nil {
					return err
				}
				if asJSON {
					return env.PrintJSON(eventJSON(&r))
				}
				return env.PrintFields(eventFields(env, &r))
			})
		},
	}
	command.Flags().BoolVar(&last, "last", false, "the argument is the id of a task: show its newest event")
	ui.JSONFlag(command, &asJSON)
	return command
}

func eventFields(env *ui.Env, r *outbox.Record) [][2]string {
	position := ""
	if r.Position > 0 {
		position = strconv.FormatInt(r.Position, 10)
	}
	return [][2]string{
		{"event", r.ID}, {"status", string(r.Status)}, {"problem", r.Problem}, {"topic", r.Topic}, {"type", r.Type},
		{"aggregate", r.AggregateID}, {"version", strconv.FormatInt(r.AggregateVersion, 10)}, {"position", position},
		{"payload", ui.Shorten(r.Payload)}, {"due", env.Moment(r.Due)}, {"created", env.Moment(r.Created)},
		{"published", env.Moment(r.Published)}, {"failed attempts", strconv.Itoa(r.Attempts)},
		{"refusals", strconv.Itoa(r.Refusals)}, {"next attempt", env.Moment(r.Retry)}, {"dead since", env.Moment(r.Dead)},
	}
}
