package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// stopTimeout is how long the end of a service may take, beside the grace time
// of running jobs.
const stopTimeout = 30 * time.Second

// service is what runs until it is stopped: a scheduler, an executor.
type service interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	Done() <-chan struct{} // closed when it has ended, be it by itself
}

// modes are the values of --mode.
var modes = []string{string(periodic.ModeShared), string(periodic.ModeLeader), string(periodic.ModeExclusive)}

// serviceFlags are the flags of the commands that run services.
type serviceFlags struct {
	name    string
	mode    choice
	migrate bool
}

func (f *serviceFlags) register(command *cobra.Command, schedules bool) {
	flags := command.Flags()
	flags.StringVar(&f.name, "name", "", "`name` of this instance (NEXTRUN_NAME; default the host's)")
	flags.BoolVar(&f.migrate, "migrate", false, "create the tables, or bring them up to date, first")
	if schedules {
		f.mode.allowed = modes
		flags.Var(&f.mode, "mode", "which instances schedule: all, a leader, or this one alone (NEXTRUN_MODE; default shared)")
	}
}

// services is what the services of one process share.
type services struct {
	*program
	config *config.Config
	name   string
	db     *store.DB
	log    *logrus.Logger
}

// withServices runs fn with all that services need, or says what is missing.
func (p *program) withServices(ctx context.Context, f *serviceFlags, fn func(*services) error) error {
	mode, err := p.modeOf(f)
	if err != nil {
		return err
	}
	c, err := p.configuration()
	if err != nil {
		return err
	}
	name, err := p.workerName(f.name)
	if err != nil {
		return err
	}
	c.Scheduler.Mode = mode
	c.Database.Create = f.migrate
	return p.withAnyDatabase(ctx, c.Database, func(db *store.DB) error {
		s := &services{program: p, config: c, name: name, db: db, log: p.logger()}
		if err := s.schema(ctx, f.migrate); err != nil {
			return err
		}
		return fn(s)
	})
}

// modeOf is the mode of the scheduler.
func (p *program) modeOf(f *serviceFlags) (periodic.Mode, error) {
	name := p.setting(f.mode.value, "NEXTRUN_MODE", string(periodic.ModeShared))
	if mode := periodic.Mode(name); mode.Valid() {
		return mode, nil
	}
	return "", usagef("NEXTRUN_MODE is %q; use one of %s", name, strings.Join(modes, ", "))
}

// schema has the database's schema be the one that this program knows.
func (s *services) schema(ctx context.Context, migrate bool) error {
	if migrate {
		done, err := s.db.Migrator().Up(ctx)
		for _, m := range done {
			s.log.WithField("migration", m.Name).Info("migration applied")
		}
		return err
	}
	if err := s.db.Migrator().Check(ctx); err != nil {
		return fmt.Errorf("%s: %w (or add --migrate)", s.db.URL(), err)
	}
	return nil
}

func (s *services) scheduler() (*periodic.Scheduler, error) {
	c := s.config.Scheduler
	c.Name, c.Logger = s.name, s.log
	return periodic.New(s.db.Periodic(), c)
}

func (s *services) executor() (*jobqueue.Executor, error) {
	c := s.config.Executor
	c.Name, c.Logger = s.name, s.log
	executor, err := jobqueue.NewExecutor(s.db.Jobs(), c)
	if err != nil {
		return nil, err
	}
	handlers, err := s.config.Build()
	if err != nil {
		return nil, err
	}
	if handlers[store.HousekeepingTask] == nil {
		executor.Register(store.HousekeepingTask, s.db.Housekeeping())
	}
	for task, handler := range handlers {
		executor.Register(task, handler)
	}
	return executor, nil
}

// run runs services until ctx ends or one of them does, and then stops them,
// all at once.
func (s *services) run(ctx context.Context, list ...service) error {
	ended := make(chan struct{}, len(list))
	for i, one := range list {
		if err := one.Start(ctx); err != nil {
			return errors.Join(err, s.stop(list[:i]))
		}
		go func() {
			<-one.Done()
			ended <- struct{}{}
		}()
	}
	s.log.WithFields(logrus.Fields{"db": s.db.URL(), "name": s.name}).Info("started")
	select {
	case <-ctx.Done():
		s.log.Info("stopping; a second signal ends at once")
	case <-ended:
	}
	err := s.stop(list)
	s.log.Info("stopped")
	return err
}

// stop stops services and returns what went wrong, also if that was why they
// ended by themselves.
func (s *services) stop(list []service) error {
	grace := max(s.config.Executor.ShutdownGrace, jobqueue.DefaultShutdownGrace)
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout+grace)
	defer cancel()
	errs := make(chan error)
	for _, one := range list {
		go func() { errs <- one.Stop(ctx) }()
	}
	var all error
	for range list {
		all = errors.Join(all, <-errs)
	}
	for _, one := range list {
		if failed, ok := one.(interface{ Err() error }); ok {
			all = errors.Join(all, failed.Err())
		}
	}
	return all
}
