package event

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

func showCommand(env *ui.Env) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "show EVENT",
		Short: "Show an event and its status",
		Args:  ui.Arguments("EVENT"),
		RunE: func(c *cobra.Command, args []string) error {
			return withOutbox(c.Context(), env, func(_ *store.DB, admin outbox.Admin) error {
				r, err := admin.Show(c.Context(), args[0])
				if err != nil {
					return err
				}
				if asJSON {
					j := newEventJSON(&r)
					j.Payload = &r.Payload
					return env.PrintJSON(j)
				}
				return env.PrintFields(eventFields(env, &r))
			})
		},
	}
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
