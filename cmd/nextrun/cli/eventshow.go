package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

func (p *program) eventShowCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "show EVENT",
		Short: "Show an event and what became of it",
		Args:  arguments("EVENT"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withOutbox(c.Context(), func(_ *store.DB, admin outbox.Admin) error {
				r, err := admin.Show(c.Context(), args[0])
				if err != nil {
					return err
				}
				if asJSON {
					j := newEventJSON(&r)
					j.Payload = &r.Payload
					return p.printJSON(j)
				}
				return p.printFields(p.eventFields(&r))
			})
		},
	}
	jsonFlag(command, &asJSON)
	return command
}

func (p *program) eventFields(r *outbox.Record) [][2]string {
	position := ""
	if r.Position > 0 {
		position = strconv.FormatInt(r.Position, 10)
	}
	return [][2]string{
		{"event", r.ID}, {"status", string(r.Status)}, {"problem", r.Problem}, {"topic", r.Topic}, {"type", r.Type},
		{"aggregate", r.AggregateID}, {"version", strconv.FormatInt(r.AggregateVersion, 10)}, {"position", position},
		{"payload", shorten(r.Payload)}, {"due", p.moment(r.Due)}, {"created", p.moment(r.Created)},
		{"published", p.moment(r.Published)}, {"attempts in vain", strconv.Itoa(r.Attempts)},
		{"refusals", strconv.Itoa(r.Refusals)}, {"next attempt", p.moment(r.Retry)}, {"dead since", p.moment(r.Dead)},
	}
}
