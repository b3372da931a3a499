package month

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/postgres" // the driver
	_ "github.com/nextrun/nextrun/store/sqlite"   // the driver
)

// Options say where and how long.
type Options struct {
	URL    string // of a database without nextrun's tables; a SQLite file is made
	Config string // the configuration file of the shop
	Days   int    // at least 4
}

// shop is the database while the month goes by. The clock is read by the scheduler's
// goroutines, too.
type shop struct {
	db        *store.DB
	pool      *sql.DB
	postgres  bool
	scheduler *scheduler.Scheduler
	tasks     *periodic.Tasks
	hooks     *store.Hooks

	start, end time.Time
	outage     [2]time.Time
	agenda     []moment // what happens next, sorted
	tally      *Tally

	mu     sync.Mutex
	clock  time.Time
	begins []string // jobs that were submitted since the last look
}

// moment is something that happens at a time.
type moment struct {
	at time.Time
	do func(ctx context.Context) error
}

// Make makes the database, and returns what is in it.
func Make(ctx context.Context, o Options) (t *Tally, err error) {
	if o.Days < 4 {
		return nil, fmt.Errorf("%d days: use 4 or more", o.Days)
	}
	s := &shop{end: time.Now().UTC().Truncate(time.Second), tally: newTally()}
	s.start = s.end.AddDate(0, 0, -o.Days)
	s.clock = s.start
	if err := s.open(ctx, o); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.pool.Close(), s.db.Close()) }()
	if err := s.furnish(ctx); err != nil {
		return nil, err
	}
	s.planDays()
	return s.tally, s.run(ctx)
}

func (s *shop) open(ctx context.Context, o Options) error {
	if path, is := strings.CutPrefix(o.URL, "sqlite:"); is {
		if _, err := os.Stat(path); err == nil {
			return fmt.Errorf("%s exists already; remove it, or name another file", path)
		}
	}
	file, err := config.Read(o.Config)
	if err != nil {
		return err
	}
	s.db, err = store.Open(ctx, o.URL, store.Options{Create: true, Clock: s.now})
	if err != nil {
		return err
	}
	if _, err := migrations.Of(s.db).Up(ctx); err != nil {
		return err
	}
	if err := s.connect(o.URL); err != nil {
		return err
	}
	if err := s.exec(ctx, legacyTable); err != nil {
		return err
	}
	built, err := file.BuildHooks(os.Getenv)
	if err != nil {
		return err
	}
	queues, err := file.BuildQueues(s.db)
	if err != nil {
		return err
	}
	if s.hooks, err = s.db.Hooks(built, queues); err != nil {
		return err
	}
	silent := logrus.New()
	silent.SetOutput(io.Discard)
	s.tasks = periodic.NewTasks(s.db.Tasks()).With(queues)
	s.scheduler, err = scheduler.New(s.db.Periodic(), scheduler.Config{
		Name: "shop", Lease: time.Hour, Submitters: queues, Hooks: s.hooks, Observe: s.hear, Logger: silent,
	})
	return err
}

// connect opens the database for statements that people write.
func (s *shop) connect(url string) (err error) {
	if path, is := strings.CutPrefix(url, "sqlite:"); is {
		s.pool, err = sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_synchronous=OFF&_foreign_keys=on&_busy_timeout=10000&_txlock=immediate")
		return err
	}
	s.postgres = true
	s.pool, err = sql.Open("postgres", url)
	return err
}

func (s *shop) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock
}

func (s *shop) set(to time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = to
}

// at plans something.
func (s *shop) at(when time.Time, do func(context.Context) error) {
	i, _ := slices.BinarySearchFunc(s.agenda, when, func(m moment, t time.Time) int {
		if m.at.After(t) {
			return 1
		}
		return -1
	})
	s.agenda = slices.Insert(s.agenda, i, moment{when, do})
}

// run moves the clock to the end.
func (s *shop) run(ctx context.Context) error {
	for {
		if !s.out() {
			if err := s.schedule(ctx); err != nil {
				return fmt.Errorf("at %s: %w", s.now(), err)
			}
		}
		next, err := s.next(ctx)
		if err != nil {
			return err
		}
		if next.After(s.end) {
			break
		}
		s.set(next)
		for len(s.agenda) > 0 && !s.agenda[0].at.After(next) {
			do := s.agenda[0].do
			s.agenda = s.agenda[1:]
			if err := do(ctx); err != nil {
				return fmt.Errorf("at %s: %w", s.now(), err)
			}
		}
	}
	s.set(s.end)
	return s.leave(ctx)
}

// out reports whether the scheduler is down.
func (s *shop) out() bool {
	now := s.now()
	return !now.Before(s.outage[0]) && now.Before(s.outage[1])
}

// next is when something happens next.
func (s *shop) next(ctx context.Context) (time.Time, error) {
	next := s.end.Add(time.Second)
	if len(s.agenda) > 0 {
		next = s.agenda[0].at
	}
	if s.out() {
		return next, nil
	}
	for _, query := range []string{
		`SELECT min(nextrun) FROM periodic_task WHERE enabled AND nextrun > $1`,
		`SELECT min(paused_until) FROM periodic_task WHERE paused IS NOT NULL AND paused_until > $1`,
	} {
		var at sqldb.Timestamp
		if err := s.pool.QueryRowContext(ctx, s.bind(query), sqldb.Timestamp(s.now())).Scan(&at); err != nil {
			return next, err
		}
		if t := at.Time(); !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	return next, nil
}

var dollar = regexp.MustCompile(`\$([0-9]+)`)

func (s *shop) bind(query string) string {
	if s.postgres {
		return query
	}
	return dollar.ReplaceAllString(query, "?$1")
}

// exec runs a statement as somebody who knows SQL.
func (s *shop) exec(ctx context.Context, query string, args ...any) error {
	if _, err := s.pool.ExecContext(ctx, s.bind(query), args...); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	return nil
}

// edit is exec, and gives what it changes the time of the shop, where the defaults and triggers
// of the tables take the server's.
func (s *shop) edit(ctx context.Context, query string, args ...any) error {
	if err := s.exec(ctx, query, args...); err != nil {
		return err
	}
	for _, column := range []string{"created", "since"} {
		if err := s.exec(ctx, `UPDATE periodic_task SET `+column+` = $1 WHERE `+column+` > $1`, sqldb.Timestamp(s.now())); err != nil {
			return err
		}
	}
	return nil
}

// hear counts ticks, and notes which jobs are to begin.
func (s *shop) hear(e scheduler.Event) {
	if e.Kind != scheduler.EventTick {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.tick(e)
	if e.Tick.Decision == periodic.Submitted && e.Tick.JID != "" && e.Task.Sink == periodic.SinkJob {
		s.begins = append(s.begins, e.Tick.JID)
	}
}

// schedule lets the scheduler and the workers do what there is to do now.
func (s *shop) schedule(ctx context.Context) error {
	for {
		if err := s.scheduler.RunOnce(ctx); err != nil {
			return err
		}
		more, err := s.begin(ctx)
		if err != nil {
			return err
		}
		if !more {
			if left, err := left(ctx, s); err != nil || !left {
				return err
			}
		}
	}
}

// worker is who runs the jobs.
const worker = "shop@000000000001"

// jobs is the queue, for people.
func (s *shop) jobs() *jobqueue.Queue { return jobqueue.NewQueue(s.db.Jobs()) }
