package service

import (
	"context"
	"errors"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/ops/lifecycle"
	"github.com/nextrun/nextrun/ops/metrics"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// modes are the values of --mode.
var modes = []string{string(scheduler.ModeShared), string(scheduler.ModeLeader), string(scheduler.ModeExclusive)}

// serviceFlags are the flags of the commands that run services.
type serviceFlags struct {
	kind    kind
	name    string
	mode    ui.Choice
	health  string
	migrate bool
	once    bool

	web            webFlags
	besideDocspell bool
}

func (f *serviceFlags) register(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.name, "name", "", "`name` of this instance (NEXTRUN_NAME; default the host's)")
	flags.StringVar(&f.health, "health", "",
		"loopback `address`, such as 127.0.0.1:8321, where GET /healthz reports the health of this process (NEXTRUN_HEALTH)")
	flags.BoolVar(&f.migrate, "migrate", false, "first create the tables")
	f.web.register(command)
	if f.kind.schedules {
		f.mode.Allowed = modes
		flags.Var(&f.mode, "mode", "which instances schedule: all of them, one leader, or only this one (NEXTRUN_MODE; default shared)")
		flags.BoolVar(&f.besideDocspell, "beside-docspell", false,
			"schedule beside a running Docspell, which schedules too; see docs/docspell.md")
	}
	if f.kind.schedules && !f.kind.executes {
		flags.BoolVar(&f.once, "once", false, "exit as soon as nothing is due; for use from cron")
	}
}

// services is what the services of one process share.
type services struct {
	env     *ui.Env
	config  *config.Config
	name    string
	db      *store.DB
	log     *logrus.Logger
	process *lifecycle.Process
	queues  periodic.Submitters // of the configuration
	hooks   *store.Hooks        // nil: there are none
	notify  *ui.Notifiers       // set with the scheduler
	metrics *metrics.Metrics    // nil: nobody asked for them
	servers []part              // of metrics and of the dashboard
	closing []func()            // what the relay publishes with, and the connections of the dashboard
	wake    func()              // set with the scheduler
}

// modeOf is the mode of the scheduler.
func modeOf(env *ui.Env, f *serviceFlags) (scheduler.Mode, error) {
	name := env.Setting(f.mode.Value, "NEXTRUN_MODE", string(scheduler.ModeShared))
	if mode := scheduler.Mode(name); mode.Valid() {
		return mode, nil
	}
	return "", ui.Usagef("NEXTRUN_MODE is %q; use one of %s", name, strings.Join(modes, ", "))
}

// scheduler makes the scheduler, and the notifiers that tell of its jobs.
func (s *services) scheduler(ctx context.Context) (planner *scheduler.Scheduler, err error) {
	if s.notify, err = ui.NewNotifiers(ctx, s.env, s.config, s.db); err != nil {
		return nil, err
	}
	c := s.config.Scheduler
	c.Name, c.Logger, c.Observe = s.name, s.log, func(e scheduler.Event) {
		s.notify.Observe(e)
		if s.metrics != nil {
			s.metrics.Scheduler(e)
		}
	}
	if c.Submitters = s.queues; s.hooks != nil {
		c.Hooks = s.hooks
	}
	if planner, err = scheduler.New(s.db.Periodic(), c); err == nil {
		s.wake = planner.Wake
	}
	return planner, err
}

// executorConfig is what an executor, and one of hooks alone, needs to know.
func (s *services) executorConfig() executor.Config {
	c := s.config.Executor
	c.Name, c.Logger = s.name, s.log
	if s.metrics != nil {
		c.Observe = s.metrics.Executor
	}
	if s.hooks != nil {
		c.Hooks = s.hooks
	}
	return c
}

func (s *services) executor() (*executor.Executor, error) {
	executor, err := executor.New(s.db.Jobs(), s.executorConfig())
	if err != nil {
		return nil, err
	}
	handlers, err := s.config.Build(s.db)
	if err != nil {
		return nil, err
	}
	for task, handler := range handlers {
		executor.Register(task, handler, jobqueue.WithLimits(s.config.Handlers[task].Limits))
	}
	return executor, nil
}

// relay makes the relay; nil if there are no topics to publish.
func (s *services) relay() (*relay.Relay, error) {
	if len(s.config.Relay.Topics) == 0 {
		return nil, nil
	}
	publishers, err := s.config.BuildRelay()
	if err != nil {
		return nil, err
	}
	s.closing = append(s.closing, publishers.Close)
	c := s.config.Relay.Config
	c.Name, c.Logger, c.Topics = s.name, s.log, publishers.Names()
	if s.metrics != nil {
		c.Observe = s.metrics.Relay
	}
	return relay.New(s.db.Outbox(), publishers.Topics, c)
}

// close ends the connections of publishers and of the dashboard.
func (s *services) close() {
	for _, end := range s.closing {
		end()
	}
}

// Verify makes the scheduler, the executor and the relay that a configuration describes, without starting them. It returns
// the queues of the configuration, nil if they are wrong.
func Verify(ctx context.Context, env *ui.Env, c *config.Config, db *store.DB) (periodic.Submitters, error) {
	s := &services{env: env, config: c, name: "check", db: db, log: env.Logger()}
	defer s.close()
	var queuesErr, hooksErr error
	if s.queues, queuesErr = c.BuildQueues(db); queuesErr == nil {
		s.hooks, hooksErr = s.buildHooks(ctx)
	}
	_, schedulerErr := s.scheduler(ctx)
	_, executorErr := s.executor()
	_, relayErr := s.relay()
	return s.queues, errors.Join(queuesErr, hooksErr, schedulerErr, executorErr, relayErr)
}
