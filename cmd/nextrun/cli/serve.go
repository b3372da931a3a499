package cli

import (
	"github.com/spf13/cobra"
)

func (p *program) serveCommand() *cobra.Command {
	var f serviceFlags
	command := &cobra.Command{
		Use:   "serve",
		Short: "Schedule and execute, in one process",
		Long: `Run the scheduler and an executor in one process, until SIGTERM or SIGINT: then
the batch in hand is finished, running jobs get some time to end, and what was
not begun goes back to the queue. A second signal ends at once.`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withServices(c.Context(), &f, func(s *services) error {
				scheduler, err := s.scheduler()
				if err != nil {
					return err
				}
				if len(s.config.Handlers) == 0 {
					s.log.Warn("no handlers are configured, so no job will run; name them in --config FILE")
					return s.run(c.Context(), scheduler)
				}
				executor, err := s.executor()
				if err != nil {
					return err
				}
				return s.run(c.Context(), scheduler, executor)
			})
		},
	}
	f.register(command, true)
	return command
}
