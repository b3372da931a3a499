// Package service holds the commands that run until they are stopped, the way they start and end, and `nextrun health`.
package service

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
)

// kind is a command that runs until it is stopped: what it says of itself, and which services its
// process has.
type kind struct {
	name, short, long           string
	schedules, executes, relays bool
	dashboard                   string // its address if nothing else is said; empty: it needs none
}

// all is a process with all services.
var all = kind{
	name: "serve", short: "Schedule, execute and publish, in one process", schedules: true, executes: true, relays: true,
	long: `Run the scheduler, an executor and, if the configuration has a section relay, a
relay in one process. SIGTERM or SIGINT stops it: the scheduler finishes its batch,
running jobs get time to end, and jobs that have not begun return to the queue. A
second signal gives running jobs back at once. SIGHUP reads the configuration again,
and its log line says what that changes.`,
}

var kinds = []kind{
	all,
	{
		name: "scheduler", short: "Submit the jobs of tasks as their timers elapse", schedules: true,
		long: `Submit the jobs of tasks as their timers elapse. SIGTERM or SIGINT stops the
scheduler after its current batch; a second signal ends it immediately.`,
	},
	{
		name: "executor", short: "Run jobs with the handlers of the configuration", executes: true,
		long: `Run jobs with the handlers of the configuration file. SIGTERM or SIGINT stops the
executor: running jobs get time to end, and jobs that have not begun return to the
queue. A second signal ends it at once.`,
	},
	{
		name: "relay", short: "Publish events to webhooks and to Kafka", relays: true,
		long: `Publish the events of the topics that the section relay of the configuration
names. SIGTERM or SIGINT stops the relay after its current batches; a second
signal ends it immediately, and events of these batches may be published twice.
Several relays share the topics.`,
	},
	{
		name: "dashboard", short: "Show pages of tasks, runs, jobs and events", dashboard: "127.0.0.1:8320",
		long: `Show pages of tasks, runs, jobs and events at http://127.0.0.1:8320/, without
scheduling or executing anything. SIGTERM or SIGINT ends it. For another
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
				if err := cmp.Or(s.make(ctx, k), s.lack(k)); err != nil {
					return err
				}
				if f.once {
					return s.notify.While(ctx, func() error { return s.scheduler.RunOnce(ctx) })
				}
				return s.run(ctx)
			})
		},
	}
	f.register(command)
	return command
}

// lack says what the configuration must have for a process of a kind to be of use.
func (s *services) lack(k kind) error {
	idle := k.executes && len(s.config.Handlers) == 0
	switch {
	case idle && k.schedules:
		s.log.Warn("no handlers are configured, so no job will run; define handlers in --config FILE")
	case idle && s.hooks == nil:
		return errors.New("no handlers are configured, so no job could run; define handlers in --config FILE")
	case k.relays && !k.schedules && len(s.config.Relay.Topics) == 0:
		return errors.New("no topics are configured; define them under relay.topics in --config FILE")
	}
	return nil
}
