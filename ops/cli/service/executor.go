package service

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
)

// ExecutorCommand returns `nextrun executor`.
func ExecutorCommand(env *ui.Env) *cobra.Command {
	var f serviceFlags
	command := &cobra.Command{
		Use:   "executor",
		Short: "Run jobs with the handlers of the configuration",
		Long: `Run jobs with the handlers of the configuration file. SIGTERM, SIGINT or SIGHUP
stops the executor: running jobs get time to end, and jobs that have not begun
return to the queue. A second signal ends it at once.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return withServices(c.Context(), env, &f, func(s *services) error {
				if own, err := s.hooks(c.Context()); err != nil || len(s.config.Handlers) == 0 && own == nil {
					if err != nil {
						return err
					}
					return errors.New("no handlers are configured, so no job could run; define handlers in --config FILE")
				}
				executor, err := s.executor(c.Context())
				if err != nil {
					return err
				}
				return s.run(c.Context(), part{stageExecutor, executor}, part{stageUnhandled, s.unhandled(executor)})
			})
		},
	}
	f.register(command, false)
	return command
}
