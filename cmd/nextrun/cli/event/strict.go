package event

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

func strictCommand(env *ui.Env) *cobra.Command {
	var off bool
	command := &cobra.Command{
		Use:   "strict TOPIC",
		Short: "Stop a topic at a dead event",
		Long: `Stop a topic at a dead event, so that no event is published before one that was
appended earlier. The topic continues when you send the event again or delete its
message.`,
		Args: ui.Arguments("TOPIC"),
		RunE: func(c *cobra.Command, args []string) error {
			return withOutbox(c.Context(), env, func(_ *store.DB, admin outbox.Admin) error {
				if err := admin.SetStrict(c.Context(), args[0], !off); err != nil {
					return err
				}
				if off {
					return env.Printf("a dead event does not stop %s\n", args[0])
				}
				return env.Printf("a dead event stops %s\n", args[0])
			})
		},
	}
	command.Flags().BoolVar(&off, "off", false, "a dead event no longer stops the topic")
	return command
}
