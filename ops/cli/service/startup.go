package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/lifecycle"
	"github.com/nextrun/nextrun/store"
)

// The stages of the start of a service, in order, beside those of package lifecycle.
const (
	stageConfiguration = "configuration"
	stageDocspell      = "Docspell"
	stageQueues        = "queues"
)

// The stages of services. All of them need the schema.
const (
	stageScheduler = "scheduler"
	stageNotify    = "notifications of new jobs"
	stageExecutor  = "executor"
	stageRelay     = "relay"
	stageHooks     = "hooks"
	stageMetrics   = "metrics"
	stageDashboard = "dashboard"
)

// part is a service of this process, and the name of its stage.
type part struct {
	stage   string
	service lifecycle.Service
}

// withServices runs fn with all that services need, or says what is missing.
func withServices(ctx context.Context, env *ui.Env, f *serviceFlags, fn func(*services) error) (err error) {
	s := &services{env: env, log: env.Logger()}
	address, err := healthAddress(env, f.health)
	if err != nil {
		return err
	}
	if s.process, err = lifecycle.New(lifecycle.Config{HealthAddress: address, Logger: s.log}); err != nil {
		return err
	}
	defer context.AfterFunc(ui.AtOnce(ctx), s.process.Hurry)()
	err = s.bringUp(ctx,
		lifecycle.Stage{Name: stageConfiguration, Up: func(context.Context) error { return s.configure(f) }},
		lifecycle.Stage{Name: lifecycle.DatabaseStage, Up: s.open,
			Down:   func(context.Context) error { return s.db.Close() },
			Health: func(ctx context.Context) error { return s.db.Ping(ctx) }})
	if err != nil {
		return err
	}
	err = s.bringUp(ctx, s.schema(f.migrate),
		lifecycle.Stage{Name: stageDocspell, Up: func(ctx context.Context) error { return s.docspell(ctx, f) }},
		lifecycle.Stage{Name: stageQueues, Up: func(ctx context.Context) error { return s.queues(ctx, f) }})
	if err != nil {
		return err
	}
	defer s.close()
	defer func() { err = errors.Join(err, s.shutDown(ctx)) }()
	if s.servers, err = s.webs(&f.web, f.kind.dashboard); err != nil {
		return err
	}
	return fn(s)
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
	s.config.Scheduler.Mode = mode
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

// schema is the stage that checks or makes the tables.
func (s *services) schema(migrate bool) lifecycle.Stage {
	stage := lifecycle.Schema(s.db, migrate, s.log)
	up := stage.Up
	stage.Up = func(ctx context.Context) error {
		err := up(ctx)
		if !migrate && errors.Is(err, migrations.ErrPending) {
			return fmt.Errorf("%w (or add --migrate)", err)
		}
		return err
	}
	return stage
}

// sayStopping says what the end of the process waits for.
func (s *services) sayStopping(ctx context.Context) {
	if errors.Is(context.Cause(ctx), ui.ErrHangup) {
		s.log.Warn("SIGHUP stops this process, as SIGTERM does; a new configuration is read when it is started again")
	}
	log := logrus.FieldLogger(s.log)
	if names := s.running.names(); len(names) > 0 {
		log = log.WithFields(logrus.Fields{"jobs": len(names), "running": strings.Join(names, ", "), "grace": s.grace()})
	}
	log.Info(ui.Stopping)
}

// bringUp adds stages and brings them up.
func (s *services) bringUp(ctx context.Context, more ...lifecycle.Stage) error {
	s.process.Add(more...)
	return s.process.Up(ctx)
}

// shutDown takes the stages down in reverse order.
func (s *services) shutDown(ctx context.Context) error {
	atOnce := ui.AtOnce(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout+s.grace())
	defer cancel()
	err := s.process.Stop(ctx)
	if ctx.Err() != nil || atOnce.Err() != nil {
		s.running.wait(ui.LastWords / 4) // commands are being ended
	}
	return err
}

// grace is how long running jobs may go on.
func (s *services) grace() time.Duration {
	grace := s.config.Executor.ShutdownGrace
	service.SetDefault(&grace, executor.DefaultShutdownGrace)
	return max(grace, 0)
}

// run runs services until ctx ends or one of them does, and then stops them.
func (s *services) run(ctx context.Context, parts ...part) error {
	for _, one := range slices.Concat(s.servers, parts) {
		s.process.AddService(one.stage, one.service)
	}
	said := sync.OnceFunc(func() { s.sayStopping(ctx) })
	defer context.AfterFunc(ctx, said)() // also if a signal comes during the start
	if err := s.process.Start(ctx); err != nil {
		if ctx.Err() == nil {
			return err
		}
		said()
		s.log.Info("stopped")
		return nil
	}
	s.log.WithFields(logrus.Fields{"db": s.db.URL(), "name": s.name}).Info("started")
	select {
	case <-ctx.Done():
		said()
	case <-s.process.Done():
	}
	err := errors.Join(s.shutDown(ctx), s.process.Err())
	s.log.Info("stopped")
	return err
}
