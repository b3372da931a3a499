package service

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/ops/lifecycle"
	"github.com/nextrun/nextrun/ops/metrics"
	"github.com/nextrun/nextrun/ops/notify"
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
	flags.BoolVar(&f.migrate, "migrate", false, "first create or update the tables")
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
	env       *ui.Env
	config    *config.Config
	name      string
	db        *store.DB
	log       *slog.Logger
	lines     *ui.Lines // where its lines go
	process   *lifecycle.Process
	queues    periodic.Submitters // of the configuration
	hooks     *store.Hooks        // nil: there are none
	metrics   *metrics.Metrics    // nil: nobody asked for them
	parts     []part              // in the order of their start
	notify    *notify.Notifier    // set with the scheduler; nil: there is nobody to tell
	scheduler *scheduler.Scheduler
	closing   []func() // what the relay publishes with, and the connections of the dashboard
}

// part is a service of this process, and the name of its stage.
type part struct {
	stage   string
	service lifecycle.Service
}

// add adds a service that was made, unless that failed.
func (s *services) add(stage string, service lifecycle.Service, err error) error {
	if err == nil {
		s.parts = append(s.parts, part{stage, service})
	}
	return err
}

// make makes the services of a process of a kind, in the order of their start. The scheduler stops first, so that no job is
// submitted while running ones end.
func (s *services) make(ctx context.Context, k kind) error {
	var errs []error
	if k.relays && len(s.config.Relay.Topics) > 0 {
		errs = append(errs, s.makeRelay())
	}
	if k.executes && len(s.config.Handlers) > 0 {
		errs = append(errs, s.makeExecutor())
	} else if s.hooks != nil {
		executor, err := executor.NewHooks(s.db.Jobs(), s.executorConfig())
		errs = append(errs, s.add(stageHooks, executor, err))
	}
	if k.schedules {
		errs = append(errs, s.makeScheduler(ctx))
	}
	return errors.Join(errs...)
}

// modeOf is the mode of the scheduler.
func modeOf(env *ui.Env, f *serviceFlags) (scheduler.Mode, error) {
	name := env.Setting(f.mode.Value, "NEXTRUN_MODE", string(scheduler.ModeShared))
	if mode := scheduler.Mode(name); mode.Valid() {
		return mode, nil
	}
	return "", ui.Usagef("NEXTRUN_MODE is %q; use one of %s", name, strings.Join(modes, ", "))
}

// makeScheduler makes the scheduler, and the notifier that tells of its jobs.
func (s *services) makeScheduler(ctx context.Context) (err error) {
	if s.notify, err = ui.NewNotifier(ctx, s.env, s.config, s.db); err != nil {
		return err
	}
	if s.notify != nil {
		s.parts = append(s.parts, part{stageNotify, s.notify})
	}
	c := s.config.Scheduler
	c.Name, c.Logger, c.Submitters = s.name, s.log, s.queues
	c.Observe = func(e scheduler.Event) {
		s.notify.Observe(e)
		if s.metrics != nil {
			s.metrics.Scheduler(e)
		}
	}
	if s.hooks != nil {
		c.Hooks = s.hooks
	}
	s.scheduler, err = scheduler.New(s.db.Periodic(), c)
	return s.add(stageScheduler, s.scheduler, err)
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

func (s *services) makeExecutor() error {
	executor, err := executor.New(s.db.Jobs(), s.executorConfig())
	if err != nil {
		return err
	}
	handlers, err := s.config.Build(s.db)
	for task, handler := range handlers {
		executor.Register(task, handler, s.config.Handlers[task].Limits)
	}
	return s.add(stageExecutor, executor, err)
}

func (s *services) makeRelay() error {
	publishers, err := s.config.BuildRelay()
	if err != nil {
		return err
	}
	s.closing = append(s.closing, publishers.Close)
	c := s.config.Relay.Config
	c.Name, c.Logger, c.Topics = s.name, s.log, publishers.Names()
	if s.metrics != nil {
		c.Observe = s.metrics.Relay
	}
	relay, err := relay.New(s.db.Outbox(), publishers.Topics, c)
	return s.add(stageRelay, relay, err)
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
	return s.queues, errors.Join(queuesErr, hooksErr, s.make(ctx, all))
}
