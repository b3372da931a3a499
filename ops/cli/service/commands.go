package service

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// kind is a command that runs until it is stopped: what it says of itself, and which services its
// process has.
type kind struct {
	name, short, long           string
	schedules, executes, relays bool
	dashboard                   string // its address if nothing else is said; empty: it needs none
}

var kinds = []kind{
	{
		name: "serve", short: "Schedule, execute and publish, in one process", schedules: true, executes: true, relays: true,
		long: `Run the scheduler, an executor and, if the configuration has a section relay, a
relay in one process. SIGTERM, SIGINT or SIGHUP stops it: the scheduler finishes
its batch, running jobs get time to end, and jobs that have not begun return to
the queue. A second signal gives running jobs back at once.`,
	},
	{
		name: "scheduler", short: "Submit the jobs of tasks as their timers elapse", schedules: true,
		long: `Submit the jobs of tasks as their timers elapse. SIGTERM, SIGINT or SIGHUP stops
the scheduler after its current batch; a second signal ends it immediately.`,
	},
	{
		name: "executor", short: "Run jobs with the handlers of the configuration", executes: true,
		long: `Run jobs with the handlers of the configuration file. SIGTERM, SIGINT or SIGHUP
stops the executor: running jobs get time to end, and jobs that have not begun
return to the queue. A second signal ends it at once.`,
	},
	{
		name: "relay", short: "Publish events to webhooks and to Kafka", relays: true,
		long: `Publish the events of the topics that the section relay of the configuration
names. SIGTERM, SIGINT or SIGHUP stops the relay after its current batches; a second
signal ends it immediately, and events of these batches may be published twice.
Several relays share the topics.`,
	},
	{
		name: "dashboard", short: "Show pages of tasks, runs, jobs and events", dashboard: "127.0.0.1:8320",
		long: `Show pages of tasks, runs, jobs and events at http://127.0.0.1:8320/, without
scheduling or executing anything. SIGTERM, SIGINT or SIGHUP ends it. For another
address than one of this host, say who may see it, with --dashboard-users.`,
	},
}

// Commands returns the commands that run until they are stopped.
func Commands(env *ui.Env) (list []*cobra.Command) {
	for _, k := range kinds {
		list = append(list, k.command(env))
	}
	return list
}

func (k kind) command(env *ui.Env) *cobra.Command {
	f := serviceFlags{kind: k}
	command := &cobra.Command{
		Use: k.name, Short: k.short, Long: k.long, Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return withServices(c.Context(), env, &f, func(ctx context.Context, s *services) error {
				if f.once {
					return s.runOnce(ctx)
				}
				parts, err := s.parts(ctx, k)
				if err != nil {
					return err
				}
				return s.run(ctx, parts...)
			})
		},
	}
	f.register(command)
	return command
}

// runOnce schedules until nothing is due.
func (s *services) runOnce(ctx context.Context) error {
	scheduler, err := s.scheduler(ctx)
	if err != nil {
		return err
	}
	return s.notify.While(ctx, func() error { return scheduler.RunOnce(ctx) })
}

// parts are the services of a process of a kind, in the order of their start. The scheduler stops first, so that no job is
// submitted while running ones end.
func (s *services) parts(ctx context.Context, k kind) ([]part, error) {
	var relays, schedulers, executors []part
	var relayErr, schedulerErr, executorErr error
	if k.relays {
		relays, relayErr = s.relays(k)
	}
	if k.schedules {
		schedulers, schedulerErr = s.schedulers(ctx)
	}
	if k.schedules || k.executes {
		executors, executorErr = s.executors(k)
	}
	return slices.Concat(relays, executors, schedulers), cmp.Or(relayErr, schedulerErr, executorErr)
}

// relays are the relay, unless there are no topics to publish.
func (s *services) relays(k kind) ([]part, error) {
	switch relay, err := s.relay(); {
	case err != nil:
		return nil, err
	case relay != nil:
		return []part{{stageRelay, relay}}, nil
	case k.schedules:
		return nil, nil
	}
	return nil, ui.Usagef("no topics are configured; define them under relay.topics in --config FILE")
}

// schedulers are the scheduler, and what it needs to be started before it.
func (s *services) schedulers(ctx context.Context) (list []part, err error) {
	scheduler, err := s.scheduler(ctx)
	if err != nil {
		return nil, err
	}
	if s.notify.Any() {
		list = append(list, part{stageNotify, s.notify})
	}
	return append(list, part{stageScheduler, scheduler}), nil
}

// executors are an executor of jobs, or at least one of the jobs of hooks, if there are hooks.
func (s *services) executors(k kind) ([]part, error) {
	switch {
	case k.executes && len(s.config.Handlers) > 0:
		executor, err := s.executor()
		return []part{{stageExecutor, executor}}, err
	case k.executes && k.schedules:
		s.log.Warn("no handlers are configured, so no job will run; define handlers in --config FILE")
	case k.executes && s.hooks == nil:
		return nil, errors.New("no handlers are configured, so no job could run; define handlers in --config FILE")
	}
	if s.hooks == nil {
		return nil, nil
	}
	executor, err := executor.NewHooks(s.db.Jobs(), s.executorConfig())
	return []part{{stageHooks, executor}}, err
}
