package replay

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// Options say where a replay runs, and from when on.
type Options struct {
	// Start is the time at which the replay begins, between the years 1970 and 9999.
	Start time.Time
	// Dir is the directory in which the SQLite file is made, if Postgres is empty. Removing
	// it is the caller's duty.
	Dir string
	// Postgres is the URL of a database in which a schema is made, and removed by
	// [Replay.Close]. The user needs the right to create schemas. Empty: SQLite.
	Postgres string
	// Submitters are the queues that are not nextrun's own; see [scheduler.Config].
	Submitters periodic.Submitters
	// Takes, if not nil, says how long a job of a task runs, and how it ends. Without it
	// jobs wait until [Replay.End].
	Takes func(t periodic.Task, due time.Time) (time.Duration, jobqueue.State)
	// Observe, if not nil, hears what the scheduler does.
	Observe func(scheduler.Event)
	// Logger, if not nil, takes the scheduler's log lines. They carry the time of this host.
	Logger logrus.FieldLogger
}

// Replay is a database whose clock stands still unless the caller moves it, and a
// scheduler. It is not safe for concurrent use.
type Replay struct {
	DB   *store.DB
	Pool *sql.DB // the same database

	scheduler *scheduler.Scheduler
	postgres  bool
	remove    func() error
	observe   func(scheduler.Event)
	takes     func(periodic.Task, time.Time) (time.Duration, jobqueue.State)

	mu      sync.Mutex // of what follows
	clock   time.Time
	running []ending // the next to end first
}

// New makes an empty database with nextrun's tables. Close it after use.
func New(ctx context.Context, o Options) (r *Replay, err error) {
	if o.Start.Year() < 1970 || o.Start.Year() > 9998 {
		return nil, fmt.Errorf("replay.Options.Start %s: want a time between 1970 and 9998", o.Start)
	}
	pool, remove, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	r = &Replay{Pool: pool, postgres: o.Postgres != "", remove: remove, observe: o.Observe, takes: o.Takes}
	r.set(o.Start)
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if r.DB, err = store.New(ctx, pool, store.Options{Clock: r.Now}); err != nil {
		return r, err
	}
	if _, err = migrations.Of(r.DB).Up(ctx); err != nil {
		return r, err
	}
	if _, err := pool.ExecContext(ctx, `DELETE FROM periodic_task`); err != nil { // housekeeping works on real time
		return r, err
	}
	cfg := scheduler.Config{Name: "replay", Lease: time.Hour, Submitters: o.Submitters, Observe: r.hear, Logger: o.Logger}
	if cfg.Logger == nil {
		silent := logrus.New()
		silent.SetOutput(io.Discard)
		cfg.Logger = silent
	}
	r.scheduler, err = scheduler.New(r.DB.Periodic(), cfg)
	return r, err
}

// Close removes the database, except for a SQLite file.
func (r *Replay) Close() error {
	var err error
	if r.DB != nil {
		err = r.DB.Close()
	}
	return errors.Join(err, r.remove())
}

// Now is the time of the database.
func (r *Replay) Now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clock
}

func (r *Replay) set(to time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock = to.UTC().Truncate(time.Microsecond)
}

// Exec runs a statement, as a user would. Parameters are $1, $2 and so on, on both databases.
func (r *Replay) Exec(ctx context.Context, query string, args ...any) error {
	return r.Edit(ctx, func() error {
		_, err := r.exec(ctx, query, args...)
		return err
	})
}

// Edit runs a function that changes tasks. What it adds and edits gets the time of the
// replay, where the server's defaults and triggers would take the server's.
func (r *Replay) Edit(ctx context.Context, edit func() error) error {
	begun, err := r.serverNow(ctx)
	if err != nil {
		return err
	}
	if err := edit(); err != nil {
		return err
	}
	ended, err := r.serverNow(ctx)
	if err != nil {
		return err
	}
	for _, column := range []string{"changed", "created"} { // the earlier, since an edit of created is a change
		if _, err := r.exec(ctx, `UPDATE periodic_task SET `+column+` = $1 WHERE `+column+` BETWEEN $2 AND $3`,
			sqldb.Timestamp(r.Now()), sqldb.Timestamp(begun), sqldb.Timestamp(ended)); err != nil {
			return fmt.Errorf("set the time of an edit: %w", err)
		}
	}
	return nil
}

// serverNow is the time that the server's own defaults take.
func (r *Replay) serverNow(ctx context.Context) (time.Time, error) {
	query := `SELECT strftime('%Y-%m-%d %H:%M:%f000', 'now')`
	if r.postgres {
		query = `SELECT clock_timestamp() AT TIME ZONE 'UTC'`
	}
	var now sqldb.Timestamp
	err := r.Pool.QueryRowContext(ctx, query).Scan(&now)
	return now.Time(), err
}

var dollar = regexp.MustCompile(`\$([0-9]+)`)

// bind writes a statement's parameters as the database wants them.
func (r *Replay) bind(query string) string {
	if r.postgres {
		return query
	}
	return dollar.ReplaceAllString(query, "?$1")
}

// Scan reads one value, of the first row that a query returns.
func (r *Replay) Scan(ctx context.Context, into any, query string, args ...any) error {
	return r.Pool.QueryRowContext(ctx, r.bind(query), args...).Scan(into)
}

func (r *Replay) exec(ctx context.Context, query string, args ...any) (int, error) {
	done, err := r.Pool.ExecContext(ctx, r.bind(query), args...)
	if err != nil {
		return 0, err
	}
	n, err := done.RowsAffected()
	return int(n), err
}
