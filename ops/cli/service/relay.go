package service

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// RelayCommand returns `nextrun relay`.
func RelayCommand(env *ui.Env) *cobra.Command {
	var f serviceFlags
	command := &cobra.Command{
		Use:   "relay",
		Short: "Publish events to webhooks and to Kafka",
		Long: `Publish the events of the topics that the section relay of the configuration
names. SIGTERM, SIGINT or SIGHUP stops the relay after its current batches; a second
signal ends it immediately, and events of these batches may be published twice.
Several relays share the topics.`,
		Example: `  nextrun relay --config nextrun.yaml`,
		Args:    ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return withServices(c.Context(), env, &f, func(s *services) error {
				return s.withRelay(func(relays ...part) error {
					if len(relays) == 0 {
						return ui.Usagef("no topics are configured; define them under relay.topics in --config FILE")
					}
					return s.run(c.Context(), relays...)
				})
			})
		},
	}
	f.register(command, false)
	return command
}

// withRelay runs fn with the relay, if there are topics to publish.
func (s *services) withRelay(fn func(...part) error) error {
	if len(s.config.Relay.Topics) == 0 {
		return fn()
	}
	publishers, err := s.config.BuildRelay(s.env.Getenv)
	if err != nil {
		return err
	}
	defer publishers.Close()
	c := s.config.Relay.Config
	c.Name, c.Logger, c.Topics = s.name, s.log, publishers.Names()
	if s.metrics != nil {
		c.Observe = s.metrics.Relay
	}
	relay, err := relay.New(s.db.Outbox(), publishers.Topics, c)
	if err != nil {
		return err
	}
	return fn(part{stageRelay, relay})
}
