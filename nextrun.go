// Package nextrun runs the schedules of a program in one call: on a database of a URL, or
// on a pool of the program's.
//
//	err := nextrun.Run(ctx, nextrun.Config{
//		Name:      "shop",
//		URL:       "postgres://...",
//		Migrate:   true,
//		Schedules: periodic.Schedules{periodic.NewSchedule("report", "02:00 Europe/Berlin", Report{}, report)},
//	})
//
// What it puts together is public: package store opens the database, migrations makes the
// tables, periodic declares tasks, periodic/scheduler submits their jobs, and
// jobqueue/executor runs them.
package nextrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// Config says what a program runs. Name and one of URL and DB are required.
type Config struct {
	// Name of the program, in 1 to 200 bytes without @ and slashes. Its tasks have it in the column origin.
	Name string
	// URL of the database, postgres://... or sqlite:FILE; with Migrate the file is made, too. With ?schema=NAME the
	// tables lie in a schema of their own, on PostgreSQL.
	// The program imports the driver, store/postgres or store/sqlite.
	URL string
	// DB is the database on a pool of the program's, as store.New returns it of a *sql.DB, and
	// store/pgxstore.New of a pool of pgx. It is left open.
	DB *store.DB
	// Migrate makes the tables, or brings them up to date.
	Migrate bool
	// Schedules are declared and run. Without any, and without Handlers, jobs are only
	// submitted, for executors elsewhere, or to the Submitters of Scheduler, which name River
	// and other queues.
	Schedules periodic.Schedules
	// Handlers run the jobs of further tasks, by the names in the column task.
	Handlers map[string]jobqueue.Handler
	// Declare says how the tasks are declared: its Tasks beside those of Schedules, its Version,
	// and what to Prune. Its Origin is Name, unless it has one.
	Declare periodic.Apply
	// KeepNewer runs what a newer Version of the program has declared. Without it that is an
	// error, a [*periodic.OlderError].
	KeepNewer bool
	// Scheduler and Executor are the settings of the two. Their Name and Logger are those
	// of the program, unless they have others.
	Scheduler scheduler.Config
	Executor  executor.Config
	// Logger takes the log lines. nil: slog.Default().
	Logger *slog.Logger
}

// Service is what runs. It is safe for concurrent use.
type Service struct {
	db         *store.DB
	close      func() error
	scheduler  *scheduler.Scheduler
	executor   *executor.Executor // nil: it only schedules
	ask, hurry func()             // to end, and to end at once
	done       chan struct{}
	err        error
}

// Run opens the database, migrates it if asked, declares the schedules and runs them, until ctx ends or
// something ends by itself. Then it stops scheduling, waits for running jobs
// ([executor.Config.ShutdownGrace]), and closes what it has opened. It returns nil after the end of ctx.
func Run(ctx context.Context, cfg Config) error {
	s, err := Start(ctx, cfg)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil
		}
		return err
	}
	<-s.Done()
	return s.Err()
}

// Start is Run for a program that has a life cycle of its own: it returns when everything runs. The
// service ends by Stop, or as if by Stop when ctx ends.
func Start(ctx context.Context, cfg Config) (*Service, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Service{db: cfg.DB, close: func() error { return nil }, done: make(chan struct{})}
	if s.db == nil {
		if s.db, err = store.Open(ctx, cfg.URL, store.Options{Create: cfg.Migrate}); err != nil {
			return nil, err
		}
		s.close = s.db.Close
	}
	if err := s.begin(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.close())
	}
	cfg.Logger.Info("started", "name", cfg.Name, "db", s.db.URL())
	return s, nil
}

// maxName is the greatest length of a program's name, which workers and the origins of tasks have in theirs.
const maxName = 200

func (c Config) withDefaults() (Config, error) {
	if c.Name == "" {
		return c, errors.New("nextrun.Config: Name is empty; name the program")
	}
	switch {
	case c.URL == "" && c.DB == nil:
		return c, errors.New("nextrun.Config: URL is empty and DB is nil; set one of them (is the variable set that has the URL?)")
	case c.URL != "" && c.DB != nil:
		return c, errors.New("nextrun.Config: both URL and DB are set; set one of them")
	case strings.ContainsAny(c.Name, "/@\x00") || len(c.Name) > maxName:
		return c, fmt.Errorf("nextrun.Config: Name is %q; use 1 to %d bytes without slashes, @ and NUL", c.Name, maxName)
	}
	names := slices.Collect(maps.Keys(c.Handlers))
	for _, t := range c.Schedules.Tasks() {
		if slices.Contains(names, t.Task) {
			return c, fmt.Errorf("nextrun.Config: two of the Schedules and Handlers are named %q; rename one", t.Task)
		}
		names = append(names, t.Task)
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	c.Declare.Origin = cmp.Or(c.Declare.Origin, c.Name)
	c.Declare.Tasks = append(c.Schedules.Tasks(), c.Declare.Tasks...)
	c.Scheduler.Name, c.Executor.Name = cmp.Or(c.Scheduler.Name, c.Name), cmp.Or(c.Executor.Name, c.Name)
	c.Scheduler.Logger, c.Executor.Logger = cmp.Or(c.Scheduler.Logger, c.Logger), cmp.Or(c.Executor.Logger, c.Logger)
	return c, nil
}

// begin does all that can fail before anything runs.
func (s *Service) begin(ctx context.Context, cfg Config) (err error) {
	if s.scheduler, err = scheduler.New(s.db.Periodic(), cfg.Scheduler); err != nil {
		return err
	}
	if len(cfg.Schedules)+len(cfg.Handlers) > 0 {
		if s.executor, err = executor.New(s.db.Jobs(), cfg.Executor); err != nil {
			return err
		}
		cfg.Schedules.Register(s.executor)
		for name, handler := range cfg.Handlers {
			s.executor.Register(name, handler)
		}
	}
	if err := prepare(ctx, s.db, cfg); err != nil {
		return err
	}
	return s.start(ctx)
}

// prepare makes the tables and declares the tasks.
func prepare(ctx context.Context, db *store.DB, cfg Config) error {
	migrator := migrations.Of(db)
	if cfg.Migrate {
		done, err := migrator.Up(ctx)
		if err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		for _, m := range done {
			cfg.Logger.Info("migration applied", "migration", m.Name)
		}
	} else if err := migrator.CheckVersion(ctx); errors.Is(err, migrations.ErrPending) {
		return fmt.Errorf("%w, or set nextrun.Config.Migrate", err)
	} else if err != nil {
		return err
	}
	applied, err := periodic.NewTasks(db.Tasks()).With(cfg.Scheduler.Submitters).Apply(ctx, cfg.Declare)
	var older *periodic.OlderError
	switch {
	case cfg.KeepNewer && errors.As(err, &older):
		cfg.Logger.Warn("a newer version of this program has declared the tasks, and they stay as they are", "error", err)
	case err != nil:
		return fmt.Errorf("declare the tasks: %w", err)
	default:
		cfg.Logger.Info("tasks declared", "result", applied.String())
	}
	for _, t := range cfg.Declare.Tasks {
		if next, err := t.Upcoming(time.Now(), 1); err == nil && len(next) == 0 && t.Enabled && t.Timer != calendar.Never {
			cfg.Logger.Warn("a task never runs: its timer does not elapse any more", "task", t.ID, "timer", t.Timer)
		}
	}
	return nil
}

// start starts both: who runs jobs is there before who submits them.
func (s *Service) start(ctx context.Context) error {
	own, hurry := context.WithCancel(context.WithoutCancel(ctx))
	s.hurry = hurry
	if s.executor != nil {
		if err := s.executor.Start(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	if err := s.scheduler.Start(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(err, s.shutDown(own))
	}
	asked := make(chan struct{})
	s.ask = sync.OnceFunc(func() { close(asked) })
	go func() {
		defer close(s.done)
		defer hurry()
		select {
		case <-ctx.Done():
		case <-asked:
		case <-s.scheduler.Done():
		}
		s.err = errors.Join(s.shutDown(own), s.scheduler.Err(), s.close())
	}()
	return nil
}

// shutDown stops submitting, then running.
func (s *Service) shutDown(ctx context.Context) error {
	err := s.scheduler.Stop(ctx)
	if s.executor != nil {
		err = errors.Join(err, s.executor.Stop(ctx))
	}
	return err
}

// DB is the database: of tasks (periodic.NewTasks), of the queue (jobqueue.NewQueue), and of transactions.
func (s *Service) DB() *store.DB { return s.db }

// Stop ends the service, as the end of Run does, and waits for it. If ctx ends first, jobs that run are cancelled and go
// back to the queue. It may be called more than once.
func (s *Service) Stop(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.hurry)()
	s.ask()
	<-s.done
	return s.err
}

// Done is closed when the service has ended.
func (s *Service) Done() <-chan struct{} { return s.done }

// Err is what went wrong at the end, or why it ended by itself: a *leader.HeldError, if somebody else has taken the lock
// in the mode exclusive. It is nil before Done.
func (s *Service) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}
