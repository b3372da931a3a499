package event

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

// tailOptions are the flags of `nextrun event tail`.
type tailOptions struct {
	topics []string
	number int64
	follow bool
	asJSON bool
}

func tailCommand(env *ui.Env) *cobra.Command {
	var o tailOptions
	command := &cobra.Command{
		Use:   "tail",
		Short: "Show the latest events, and follow new ones",
		Long: `Show the latest events of each topic, in the order in which consumers read them.
With --follow it goes on with new events until SIGTERM or SIGINT. With --json each
event is one line.`,
		Example: `  nextrun event tail --topic billing -n 20 --follow`,
		Args:    ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.number < 0 {
				return ui.Usagef("-n is %d; use 0 or more", o.number)
			}
			return withOutbox(c.Context(), env, func(db *store.DB, _ outbox.Admin) error {
				return tail(c.Context(), env, db.EventLog(""), o)
			})
		},
	}
	flags := command.Flags()
	flags.StringSliceVar(&o.topics, "topic", nil, "only those of this topic; may be given more than once")
	flags.Int64VarP(&o.number, "limit", "n", 10, "number of existing events of each topic")
	flags.BoolVarP(&o.follow, "follow", "f", false, "follow new events")
	ui.JSONFlag(command, &o.asJSON)
	return command
}

func tail(ctx context.Context, env *ui.Env, log outbox.Log, o tailOptions) error {
	follower := outbox.Follower{Log: log, Topics: o.topics, After: map[string]int64{}, Report: func(err error) {
		env.Complain("%v; trying again", err)
	}}
	ends, err := log.Ends(ctx, o.topics)
	if err != nil {
		return err
	}
	for topic, end := range ends {
		follower.After[topic] = max(end-o.number, 0)
	}
	show := func(e outbox.Event) error { return showEvent(env, e, o.asJSON) }
	if o.follow {
		return follower.Follow(ctx, show)
	}
	_, err = follower.Drain(ctx, show)
	return err
}

// showEvent writes one line.
func showEvent(env *ui.Env, e outbox.Event, asJSON bool) error {
	if asJSON {
		return ui.PrintJSONLine(env.Stdout, eventJSON(&outbox.Record{Event: e}))
	}
	return env.Printf("%s  %s %d  %s  %s %d  %s\n", env.Moment(e.Created), ui.Cell(e.Topic), e.Position,
		ui.Cell(e.Type), ui.Cell(e.AggregateID), e.AggregateVersion, ui.Cell(ui.Shorten(e.Payload)))
}
