package nextruntest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite" // the driver
)

// machine is a scheduler, and a database whose clock stands still unless it is moved.
type machine struct {
	pool      *sql.DB
	db        *store.DB // on pool
	scheduler *scheduler.Scheduler

	mu    sync.Mutex // executors read the clock from goroutines of their own
	clock time.Time
}

// options of a database that need not survive a power failure.
const options = "?_journal_mode=WAL&_synchronous=OFF&_foreign_keys=on&_busy_timeout=10000&_txlock=immediate&_stmt_cache_size=64"

// open makes a database with nextrun's tables, and no task.
func (m *machine) open(ctx context.Context, dir string, o Options) (err error) {
	m.set(o.Start)
	m.pool, err = sql.Open("sqlite3", "file:"+filepath.Join(dir, "nextrun.db")+options)
	if err != nil {
		return fmt.Errorf("this test was built without SQLite; build it with cgo and a C compiler: %w", err)
	}
	m.pool.SetMaxIdleConns(4)
	if m.db, err = store.New(ctx, m.pool, store.Options{Clock: m.now}); err != nil {
		return err
	}
	if _, err = migrations.Of(m.db).Up(ctx); err != nil {
		return err
	}
	m.scheduler, err = scheduler.New(m.db.Periodic(), scheduler.Config{
		Name: "nextruntest", Lease: time.Hour, Submitters: o.Submitters, Logger: o.Logger,
	})
	return err
}

func (m *machine) close() (err error) {
	if m.db != nil {
		err = m.db.Close()
	}
	if m.pool != nil {
		err = errors.Join(err, m.pool.Close())
	}
	return err
}

func (m *machine) now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clock
}

func (m *machine) set(to time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock = to.UTC().Truncate(time.Microsecond)
}

// advance moves the clock from one moment at which something happens to the next: a tick
// falls due, a pause ends. The scheduler runs at each of them.
func (m *machine) advance(ctx context.Context, to time.Time) error {
	if err := m.forward(to); err != nil {
		return err
	}
	for {
		if err := m.schedule(ctx); err != nil {
			return err
		}
		next, err := m.next(ctx)
		if err != nil {
			return err
		}
		if next.IsZero() || next.After(to) {
			break
		}
		m.set(next)
	}
	m.set(to)
	return nil
}

// outage moves the clock while no scheduler runs.
func (m *machine) outage(ctx context.Context, to time.Time) error {
	if err := m.forward(to); err != nil {
		return err
	}
	m.set(to)
	return m.schedule(ctx)
}

func (m *machine) forward(to time.Time) error {
	if to.Before(m.now()) {
		return fmt.Errorf("the clock stands at %s and cannot go back to %s", moment(m.now()), moment(to))
	}
	return nil
}

// schedule lets the scheduler work until nothing is due.
func (m *machine) schedule(ctx context.Context) error {
	if err := m.scheduler.RunOnce(ctx); err != nil {
		return fmt.Errorf("schedule at %s: %w", moment(m.now()), err)
	}
	return nil
}

// never is the year of the next run of a task that does not elapse any more.
const never = 9999

// next is when something happens next; zero: never.
func (m *machine) next(ctx context.Context) (next time.Time, err error) {
	for _, query := range []string{
		`SELECT min(nextrun) FROM periodic_task WHERE enabled AND worker IS NULL AND nextrun > ?1`,
		`SELECT min(paused_until) FROM periodic_task WHERE paused IS NOT NULL AND paused_until > ?1`,
	} {
		var at sqldb.Timestamp
		if err := m.pool.QueryRowContext(ctx, query, sqldb.Timestamp(m.now())).Scan(&at); err != nil {
			return next, err
		}
		if t := at.Time(); !t.IsZero() && t.Year() < never && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next, nil
}

// end ends the jobs of a task that have not ended, as an executor would, and lets the
// scheduler see it. An empty id stands for all tasks. It returns how many there were.
func (m *machine) end(ctx context.Context, taskID string, state jobqueue.State, result string) (int64, error) {
	done, err := m.pool.ExecContext(ctx, `UPDATE job SET state = ?1, worker = NULL, result = nullif(?2, ''),
			started = coalesce(started, submitted), finished = ?3
		WHERE state NOT IN ('success', 'failed', 'cancelled') AND (?4 = '' OR tracker = ?4)`,
		string(state), result, sqldb.Timestamp(m.now()), taskID)
	if err != nil {
		return 0, err
	}
	n, err := done.RowsAffected()
	if err != nil {
		return 0, err
	}
	return n, m.schedule(ctx)
}

// edit runs a function that changes tasks. What it adds and edits gets the time of the
// test, where the defaults and triggers of the tables take the host's.
func (m *machine) edit(ctx context.Context, edit func() error) error {
	begun, err := m.hostNow(ctx)
	if err != nil {
		return err
	}
	if err := edit(); err != nil {
		return err
	}
	for _, set := range []string{ // in this order: an edit of created is a change
		`UPDATE periodic_task SET created = ?1 WHERE created BETWEEN ?2 AND ?3`,
		`UPDATE periodic_task SET since = ?1 WHERE since BETWEEN ?2 AND ?3`,
	} {
		ended, err := m.hostNow(ctx)
		if err != nil {
			return err
		}
		_, err = m.pool.ExecContext(ctx, set, sqldb.Timestamp(m.now()), sqldb.Timestamp(begun), sqldb.Timestamp(ended))
		if err != nil {
			return fmt.Errorf("set the time of an edit: %w", err)
		}
	}
	return nil
}

// hostNow is the time that the tables' own defaults take.
func (m *machine) hostNow(ctx context.Context) (time.Time, error) {
	var now sqldb.Timestamp
	err := m.pool.QueryRowContext(ctx, `SELECT strftime('%Y-%m-%d %H:%M:%f000', 'now')`).Scan(&now)
	return now.Time(), err
}
