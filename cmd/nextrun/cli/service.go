package cli

import (
	"context"
	"errors"
	"fmt"
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
}

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
		f.mode.allowed = []string{"shared", "leader", "exclusive"}
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
	if err := p.checkMode(f); err != nil {
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
	c.Database.Create = f.migrate
	return p.withAnyDatabase(ctx, c.Database, func(db *store.DB) error {
		s := &services{program: p, config: c, name: name, db: db, log: p.logger()}
		if err := s.schema(ctx, f.migrate); err != nil {
			return err
		}
		return fn(s)
	})
}

// checkMode refuses modes that are not there yet.
func (p *program) checkMode(f *serviceFlags) error {
	mode := choice{allowed: []string{"shared", "leader", "exclusive"}}
	name := p.setting(f.mode.value, "NEXTRUN_MODE", "shared")
	if err := mode.Set(name); err != nil {
		return usagef("NEXTRUN_MODE is %q; %v", name, err)
	}
	if name != "shared" {
		return usagef("mode %s is not there yet; use --mode shared, in which any number of instances may run", name)
	}
	return nil
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

// run runs services until ctx ends, and then stops them, all at once.
func (s *services) run(ctx context.Context, list ...service) (err error) {
	for i, one := range list {
		if err := one.Start(ctx); err != nil {
			return errors.Join(err, s.stop(list[:i]))
		}
	}
	s.log.WithFields(logrus.Fields{"db": s.db.URL(), "name": s.name}).Info("started")
	<-ctx.Done()
	s.log.Info("stopping; a second signal ends at once")
	if err := s.stop(list); err != nil {
		return err
	}
	s.log.Info("stopped")
	return nil
}

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
	return all
}
