package service

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
)

// SchedulerCommand returns `nextrun scheduler`.
func SchedulerCommand(env *ui.Env) *cobra.Command {
	var f serviceFlags
	var once bool
	command := &cobra.Command{
		Use:   "scheduler",
		Short: "Submit the jobs of tasks as their timers elapse",
		Long: `Submit the jobs of tasks as their timers elapse. SIGTERM, SIGINT or SIGHUP stops
the scheduler after its current batch; a second signal ends it immediately.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return withServices(c.Context(), env, &f, func(s *services) error {
				scheduler, err := s.scheduler(c.Context())
				if err != nil {
					return err
				}
				if once {
					return s.notify.While(c.Context(), func() error { return scheduler.RunOnce(c.Context()) })
				}
				hooks, err := s.hookExecutor(c.Context())
				if err != nil {
					return err
				}
				return s.run(c.Context(), slices.Concat(hooks, s.besides(), []part{{stageScheduler, scheduler}})...)
			})
		},
	}
	f.register(command, true)
	command.Flags().BoolVar(&once, "once", false, "exit as soon as nothing is due; for use from cron")
	return command
}
