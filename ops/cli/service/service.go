package service

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/ops/docspell"
	"github.com/nextrun/nextrun/ops/lifecycle"
	"github.com/nextrun/nextrun/ops/metrics"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// stopTimeout is how long the end of a service may take, beside the grace time
// of running jobs.
const stopTimeout = 30 * time.Second

// modes are the values of --mode.
var modes = []string{string(scheduler.ModeShared), string(scheduler.ModeLeader), string(scheduler.ModeExclusive)}

// serviceFlags are the flags of the commands that run services.
type serviceFlags struct {
	name    string
	mode    ui.Choice
	workers string
	health  string
	migrate bool

	web webFlags

	schedules      bool // the command is about a scheduler, too
	besideDocspell bool
}

func (f *serviceFlags) register(command *cobra.Command, schedules bool) {
	flags := command.Flags()
	flags.StringVar(&f.name, "name", "", "`name` of this instance (NEXTRUN_NAME; default the host's)")
	flags.StringVar(&f.health, "health", "",
		"loopback `address`, such as 127.0.0.1:8321, where GET /healthz reports the health of this process (NEXTRUN_HEALTH)")
	flags.BoolVar(&f.migrate, "migrate", false, "first create the tables")
	f.web.register(command)
	if f.schedules = schedules; schedules {
		f.mode.Allowed = modes
		flags.Var(&f.mode, "mode", "which instances schedule: all of them, one leader, or only this one (NEXTRUN_MODE; default shared)")
		flags.StringVar(&f.workers, "workers", "",
			"`number` of instances that you run; mode exclusive refuses more than 1 (NEXTRUN_WORKERS)")
		flags.BoolVar(&f.besideDocspell, "beside-docspell", false,
			"schedule beside a running Docspell, which schedules too; see docs/docspell.md")
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
	notify  *ui.Notifiers    // set with the scheduler
	metrics *metrics.Metrics // nil: nobody asked for them
	servers []part           // of metrics and of the dashboard
	running running          // handlers
	wake    func()           // set with the scheduler
}

// modeOf is the mode of the scheduler.
func modeOf(env *ui.Env, f *serviceFlags) (scheduler.Mode, error) {
	name := env.Setting(f.mode.Value, "NEXTRUN_MODE", string(scheduler.ModeShared))
	if mode := scheduler.Mode(name); mode.Valid() {
		return mode, nil
	}
	return "", ui.Usagef("NEXTRUN_MODE is %q; use one of %s", name, strings.Join(modes, ", "))
}

// checkWorkers refuses a deployment of several instances in mode exclusive, of
// which all but one would fail.
func checkWorkers(env *ui.Env, f *serviceFlags, mode scheduler.Mode) error {
	text := env.Setting(f.workers, "NEXTRUN_WORKERS", "1")
	workers, err := strconv.Atoi(text)
	if err != nil || workers < 1 {
		return ui.Usagef("--workers or NEXTRUN_WORKERS is %q; use a whole number of at least 1", text)
	}
	if workers > 1 && mode == scheduler.ModeExclusive {
		return ui.Usagef("--workers or NEXTRUN_WORKERS is %d, but in mode exclusive one instance runs alone; "+
			"use 1, or --mode leader, in which the others stand by", workers)
	}
	return nil
}

// docspell refuses to schedule what Docspell schedules already.
func (s *services) docspell(ctx context.Context, f *serviceFlags) error {
	if !f.schedules || f.besideDocspell {
		return nil
	}
	return docspell.In(s.db).RefuseLive(ctx)
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
	if c.Submitters, err = s.config.BuildQueues(s.db); err != nil {
		return nil, err
	}
	if hooks, err := s.hooks(ctx); err != nil {
		return nil, err
	} else if hooks != nil {
		c.Hooks = hooks
	}
	if planner, err = scheduler.New(s.db.Periodic(), c); err == nil {
		s.wake = planner.Wake
	}
	return planner, err
}

// besides are the services that a scheduler needs here, to start before it.
func (s *services) besides() (list []part) {
	if s.notify.Any() {
		list = append(list, part{stageNotify, s.notify})
	}
	return list
}

func (s *services) executor(ctx context.Context) (*executor.Executor, error) {
	c := s.config.Executor
	c.Name, c.Logger = s.name, s.log
	if s.metrics != nil {
		c.Observe = s.metrics.Executor
	}
	if hooks, err := s.hooks(ctx); err != nil {
		return nil, err
	} else if hooks != nil {
		c.Hooks = hooks
	}
	executor, err := executor.New(s.db.Jobs(), c)
	if err != nil {
		return nil, err
	}
	handlers, err := s.config.Build(s.env.Getenv, s.db)
	if err != nil {
		return nil, err
	}
	for task, handler := range handlers {
		executor.Register(task, handler, jobqueue.WithLimits(s.config.Handlers[task].Limits), jobqueue.Middleware(s.running.count))
	}
	return executor, nil
}

// Verify makes the scheduler, the executor and the relay that a configuration
// describes, without starting them.
func Verify(ctx context.Context, env *ui.Env, c *config.Config, db *store.DB) error {
	s := &services{env: env, config: c, name: "check", db: db, log: env.Logger()}
	_, schedulerErr := s.scheduler(ctx)
	_, executorErr := s.executor(ctx)
	relayErr := s.withRelay(func(...part) error { return nil })
	return errors.Join(schedulerErr, executorErr, relayErr)
}
