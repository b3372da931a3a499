package event

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

func lagCommand(env *ui.Env) *cobra.Command {
	var list ui.ListFlags
	command := &cobra.Command{
		Use:   "lag",
		Short: "Show which topics have unpublished events, and since when",
		Args:  ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return withOutbox(c.Context(), env, func(_ *store.DB, admin outbox.Admin) error {
				topics, err := admin.Lag(c.Context())
				if err != nil {
					return err
				}
				t := ui.NewTable("TOPIC", "PENDING", "OLDEST", "DEAD", "STRICT", "RELAY", "PROBLEM").Least("STRICT", "RELAY").
					IfEmpty("none: all events are published")
				return ui.PrintList(env, &list, t, topics, func(l *outbox.Lag) (any, []any) {
					return ui.Object{
						{"topic", l.Topic}, {"pending", l.Pending}, {"oldest", ui.OrNull(l.Oldest)}, {"age", l.Age.Seconds()}, {"dead", l.Dead},
						{"strict", l.Strict}, {"holder", ui.OrNull(l.Holder)}, {"problem", ui.OrNull(l.Problem)}, {"retry", ui.OrNull(l.Retry)},
					}, []any{l.Topic, l.Pending, env.Ago(l.Oldest), l.Dead, ui.YesNo(l.Strict), l.Holder, text.FirstLine(l.Problem)}
				})
			})
		},
	}
	list.Register(command)
	return command
}
