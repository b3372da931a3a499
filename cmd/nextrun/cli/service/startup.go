package service

import (
	"context"
	"errors"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// The stages of the start of a service, in order. Each service adds its own.
const (
	stageConfiguration = "configuration"
	stageHealthServer  = "health"
	stageDatabase      = "database"
	stageSchema        = "schema version"
	stageDocspell      = "Docspell"
	stageQueues        = "queues"
	stageLock          = "lock"
	stageScheduler     = "scheduler"
	stageNotify        = "notifications of new jobs"
	stagePruning       = "pruning of ticks"
	stageExecutor      = "executor"
	stageRelay         = "relay"
	stageUnhandled     = "watch for jobs without a handler"
)

// withServices runs fn with all that services need, or says what is missing.
func withServices(ctx context.Context, env *ui.Env, f *serviceFlags, fn func(*services) error) (err error) {
	s := &services{env: env, log: env.Logger()}
	err = s.bringUp(ctx,
		stage{name: stageConfiguration, up: func(context.Context) error { return s.configure(f) }},
		s.healthStage(f.health),
		stage{name: stageDatabase, needs: []string{stageConfiguration}, up: s.open,
			down:   func(context.Context) error { return s.db.Close() },
			health: func(ctx context.Context) error { return s.db.Ping(ctx) }},
		stage{name: stageSchema, needs: []string{stageDatabase},
			up: func(ctx context.Context) error { return s.schema(ctx, f.migrate) }},
		stage{name: stageDocspell, needs: []string{stageSchema},
			up: func(ctx context.Context) error { return s.docspell(ctx, f) }},
		stage{name: stageQueues, needs: []string{stageSchema},
			up: func(ctx context.Context) error { return s.queues(ctx, f) }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.shutDown(ctx)) }()
	return fn(s)
}

// configure reads flags, variables and the configuration file. It touches no
// database.
func (s *services) configure(f *serviceFlags) error {
	mode, err := modeOf(s.env, f)
	if err != nil {
		return err
	}
	if err := checkWorkers(s.env, f, mode); err != nil {
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
	s.db, err = store.Open(ctx, s.env.DatabaseURL(), s.config.Database)
	return err
}

// bringUp adds stages and brings them up.
func (s *services) bringUp(ctx context.Context, more ...stage) error {
	if err := s.stages.add(more...); err != nil {
		return err
	}
	return s.stages.up(ctx)
}

// shutDown takes the stages down, in reverse order: what was begun last ends
// first, so that the scheduler, and its lock, go on while running jobs end.
func (s *services) shutDown(ctx context.Context) error {
	grace := max(s.config.Executor.ShutdownGrace, jobqueue.DefaultShutdownGrace)
	ctx, cancel := context.WithTimeout(ui.AtOnce(ctx), stopTimeout+grace)
	defer cancel()
	err := s.stages.down(ctx)
	if ctx.Err() != nil {
		s.running.wait(ui.LastWords / 2) // commands are being ended
	}
	return err
}

// run runs services until ctx ends or one of them does, and then stops them.
func (s *services) run(ctx context.Context, list ...service) error {
	ended := make(chan struct{}, len(list))
	for _, one := range list {
		if err := s.bringUp(ctx, stagesOf(one, ended)...); err != nil {
			return ui.UnlessEnded(ctx, err)
		}
	}
	s.started.Store(true)
	s.log.WithFields(logrus.Fields{"db": s.db.URL(), "name": s.name}).Info("started")
	select {
	case <-ctx.Done():
		s.log.Info("stopping; a second signal ends at once")
	case <-ended:
	}
	s.started.Store(false)
	err := s.shutDown(ctx)
	for _, one := range list { // also if that is why it ended by itself
		if failed, ok := one.(interface{ Err() error }); ok {
			err = errors.Join(err, failed.Err())
		}
	}
	s.log.Info("stopped")
	return err
}

// stagesOf are the stages of a service, which sends on ended when it has ended. A
// signal ends ctx; the service goes on until its turn to stop has come.
func stagesOf(one service, ended chan<- struct{}) []stage {
	own := stage{needs: []string{stageSchema}, down: one.Stop}
	own.up = func(ctx context.Context) error {
		if err := one.Start(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		go func() {
			<-one.Done()
			ended <- struct{}{}
		}()
		return nil
	}
	own.health = func(context.Context) error {
		select {
		case <-one.Done():
			return errors.New("it has ended")
		default:
			return nil
		}
	}
	switch one := one.(type) {
	case *periodic.Scheduler:
		own.name, own.needs = stageScheduler, []string{stageLock}
		join := func(ctx context.Context) error { return one.Join(context.WithoutCancel(ctx)) }
		return []stage{{name: stageLock, needs: []string{stageSchema}, up: join, down: one.Stop}, own}
	case *jobqueue.Executor:
		own.name = stageExecutor
	case *ui.Notifiers:
		own.name = stageNotify
	case *pruning:
		own.name = stagePruning
	case *unhandled:
		own.name = stageUnhandled
	default:
		own.name = stageRelay
	}
	return []stage{own}
}
