package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/docspell"
	"github.com/nextrun/nextrun/ops/lifecycle"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// The stages of the start of a service, in order, beside those of package lifecycle.
const (
	stageConfiguration = "configuration"
	stageDocspell      = "Docspell"
	stageQueues        = "queues and hooks"
)

// The stages of services. All of them need the schema.
const (
	stageScheduler = "scheduler"
	stageNotify    = "notifications of new jobs"
	stageExecutor  = "executor"
	stagePrograms  = "programs" // the last one could be started
	stageRelay     = "relay"
	stageHooks     = "hooks"
	stageMetrics   = "metrics"
	stageDashboard = "dashboard"
)

// withServices runs fn with all that services need, or says what is missing.
func withServices(ctx context.Context, env *ui.Env, f *serviceFlags, fn func(context.Context, *services) error) (err error) {
	s := &services{env: env}
	s.log, s.lines = env.NeverWait()
	address, err := healthAddress(env, f.health)
	if err != nil {
		return err
	}
	wrong := s.configure(f)
	s.process, err = lifecycle.New(lifecycle.Config{
		HealthAddress: address, Logger: s.log, LogLost: s.lines.Lost, StopTimeout: s.stopTimeout(),
		Started: func() { s.log.Info("started", "db", s.db.URL(), "name", s.name) },
	})
	if err != nil {
		return err
	}
	if err := s.bringUp(ctx, lifecycle.Stage{Name: stageConfiguration, Up: func(context.Context) error { return wrong }}); err != nil {
		return err
	}
	ctx, stop := s.withSignals(ctx)
	defer stop()
	err = s.bringUp(ctx, lifecycle.Stage{Name: lifecycle.DatabaseStage, Up: s.open,
		Down:   func(context.Context) error { return s.db.Close() },
		Health: func(ctx context.Context) error { return s.db.Ping(ctx) }})
	if err != nil {
		return err
	}
	err = s.bringUp(ctx, lifecycle.Schema(s.db, f.migrate, s.log),
		lifecycle.Stage{Name: stageDocspell, Up: func(ctx context.Context) error { return s.docspell(ctx, f) }},
		lifecycle.Stage{Name: stageQueues, Up: func(ctx context.Context) error { return s.queuesAndHooks(ctx, f.kind) }})
	if errors.Is(err, migrations.ErrPending) {
		err = fmt.Errorf("%w (or add --migrate)", err)
	}
	if err != nil {
		return err
	}
	defer s.close()
	defer func() { err = errors.Join(err, s.process.Close(ctx)) }()
	if err := s.makeServers(ctx, &f.web, f.kind.dashboard); err != nil {
		return err
	}
	return fn(ctx, s)
}

// bringUp adds stages and brings them up.
func (s *services) bringUp(ctx context.Context, more ...lifecycle.Stage) error {
	s.process.Add(more...)
	return s.process.Up(ctx)
}

// configure reads flags, variables and the configuration file. It touches no
// database.
func (s *services) configure(f *serviceFlags) error {
	mode, err := modeOf(s.env, f)
	if err != nil {
		return err
	}
	if s.config, err = s.env.Configuration(); err != nil {
		return err
	}
	s.config.Log, s.config.Scheduler.Mode = s.log, mode
	s.config.Database.Create, s.config.Database.Schema = f.migrate, s.env.Schema()
	s.name, err = s.env.WorkerName(f.name)
	return err
}

func (s *services) open(ctx context.Context) (err error) {
	url, err := s.env.DatabaseURL()
	if err != nil {
		return err
	}
	options := s.config.Database
	if n := s.config.StatementPlaces(); n > 0 { // beside those that the services need
		options.MaxConns = cmp.Or(options.MaxConns, sqldb.DefaultMaxConns) + n
	}
	s.db, err = store.Open(ctx, url, options)
	return err
}

// docspell refuses to schedule what Docspell schedules already.
func (s *services) docspell(ctx context.Context, f *serviceFlags) error {
	if !f.kind.schedules || f.besideDocspell {
		return nil
	}
	return docspell.In(s.db).RefuseLive(ctx)
}

// queuesAndHooks makes what scheduler and executor share. A scheduler looks at each queue, and warns of those to which jobs
// cannot be submitted now: it starts all the same, lets their tasks wait, and submits as soon as the queue can be used.
func (s *services) queuesAndHooks(ctx context.Context, k kind) (err error) {
	if !k.schedules && !k.executes {
		return nil
	}
	if s.queues, err = s.config.BuildQueues(s.db); err != nil {
		return err
	}
	if s.hooks, err = s.buildHooks(ctx); err != nil || !k.schedules {
		return err
	}
	return ui.Queues(s.queues).Check(ctx, func(name periodic.Sink, report queues.Report) error {
		log := s.log.With("queue", name, "type", report.Kind)
		for _, p := range append(report.Problems, report.Warnings...) {
			log.Warn("queue: " + p)
		}
		if len(report.Problems) == 0 {
			log.Info("queue can be used")
		}
		return nil
	})
}

// run runs the services until ctx ends or one of them does, and then stops them.
func (s *services) run(ctx context.Context) error {
	for _, one := range s.parts {
		if one.stage == stageExecutor || one.stage == stageHooks {
			s.process.Add(lifecycle.Stage{Name: stagePrograms, Health: func(context.Context) error { return handlers.Shortage() }})
		}
		s.process.AddService(one.stage, one.service)
	}
	return s.process.Run(ctx)
}

// reload reads the configuration file again.
func (s *services) reload() {
	log := s.log.With("file", s.config.Path)
	if err := s.config.Reload(); err != nil {
		log.Error("the configuration cannot be read again; the old one stays", "error", err)
		return
	}
	log.Info("configuration read again: commands, calls and addresses of handlers, hooks and topics follow it; what is new or " +
		"gone, and all other settings, are taken at the next start")
}

// stopTimeout is how long the end of the process may take.
func (s *services) stopTimeout() time.Duration {
	if s.config == nil {
		return 0
	}
	grace := s.config.Executor.ShutdownGrace
	service.SetDefault(&grace, executor.DefaultShutdownGrace)
	return 30*time.Second + max(grace, 0)
}
