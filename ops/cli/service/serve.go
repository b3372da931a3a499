package service

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
)

// ServeCommand returns `nextrun serve`.
func ServeCommand(env *ui.Env) *cobra.Command {
	var f serviceFlags
	command := &cobra.Command{
		Use:   "serve",
		Short: "Schedule, execute and publish, in one process",
		Long: `Run the scheduler, an executor and, if the configuration has a section relay, a
relay in one process. SIGTERM, SIGINT or SIGHUP stops it: the scheduler finishes
its batch, running jobs get time to end, and jobs that have not begun return to
the queue. A second signal gives running jobs back at once.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return withServices(c.Context(), env, &f, func(s *services) error {
				scheduler, err := s.scheduler(c.Context())
				if err != nil {
					return err
				}
				return s.withRelay(func(relays ...part) error {
					parts := slices.Concat(relays, s.besides(), []part{{stageScheduler, scheduler}})
					if len(s.config.Handlers) == 0 {
						s.log.Warn("no handlers are configured, so no job will run; define handlers in --config FILE")
						hooks, err := s.hookExecutor(c.Context())
						if err != nil {
							return err
						}
						return s.run(c.Context(), append(hooks, parts...)...)
					}
					executor, err := s.executor(c.Context())
					if err != nil {
						return err
					}
					return s.run(c.Context(), append(parts, part{stageExecutor, executor}, part{stageUnhandled, s.unhandled(executor)})...)
				})
			})
		},
	}
	f.register(command, true)
	return command
}
