// Package pooltest tests nextrun on a pool that a program has opened, whatever its
// driver. Modules with drivers that nextrun does not use run it, too.
package pooltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// Run schedules and executes on a pool, which no table of nextrun needs to be in yet.
// disturb, if there is one, ends the connections of the others meanwhile.
func Run(t *testing.T, pool *sql.DB, options store.Options, disturb func()) {
	t.Helper()
	db, err := store.New(t.Context(), pool, options)
	must(t, err)
	RunOn(t, pool, db, disturb)
}

// RunOn is Run on a database that was opened over what the pool stands for.
func RunOn(t *testing.T, pool *sql.DB, db *store.DB, disturb func()) {
	t.Helper()
	_, err := migrations.Of(db).Up(t.Context())
	must(t, err)
	if err := migrations.Of(db).Check(t.Context()); err != nil {
		t.Errorf("the schema after Up: %v", err)
	}
	p := &program{TB: t, pool: pool, db: db, ran: map[string]int{}}
	t.Run("transactions", func(t *testing.T) { p.transactions(t) })
	t.Run("errors", func(t *testing.T) { p.errors(t) })
	t.Run("services", func(t *testing.T) { p.services(t, disturb) })
	must(t, db.Close())
	if err := pool.PingContext(t.Context()); err != nil {
		t.Errorf("Close has closed the program's pool: %v", err)
	}
}

type program struct {
	testing.TB
	pool *sql.DB
	db   *store.DB

	mu  sync.Mutex
	ran map[string]int // by args
}

// transactions: a task and a job of the program's own transaction are there after its
// commit, and after no other.
func (p *program) transactions(t *testing.T) {
	for id, commit := range map[string]bool{"kept": true, "undone": false} {
		tx, err := p.pool.BeginTx(t.Context(), nil)
		must(t, err)
		task := periodic.NewTask(id, "note", "daily")
		task.Starts = time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC)
		must(t, periodic.NewTasks(p.db.Tasks()).In(tx).Add(t.Context(), task))
		_, err = jobqueue.NewQueue(p.db.Jobs()).In(tx).Submit(t.Context(), jobqueue.Job{Task: "note", Args: `"` + id + `"`})
		must(t, err)
		if commit {
			must(t, tx.Commit())
		} else {
			must(t, tx.Rollback())
		}
	}
	if got := p.count(t, "SELECT count(*) FROM periodic_task WHERE id = 'kept' AND starts = '2050-01-01 00:00:00.000000'"); got != 1 {
		t.Errorf("%d tasks after the commit, want 1", got)
	}
	if got := p.count(t, "SELECT count(*) FROM job WHERE args = '\"kept\"'"); got != 1 {
		t.Errorf("%d jobs after the commit, want 1", got)
	}
	if got := p.count(t, "SELECT (SELECT count(*) FROM periodic_task WHERE id = 'undone') + (SELECT count(*) FROM job WHERE args = '\"undone\"')"); got != 0 {
		t.Errorf("%d rows after the rollback, want none", got)
	}
}

// errors: the driver's errors have nextrun's classes.
func (p *program) errors(t *testing.T) {
	tasks := periodic.NewTasks(p.db.Tasks())
	if err := tasks.Add(t.Context(), periodic.NewTask("kept", "note", "daily")); !errors.Is(err, periodic.ErrDuplicate) || !errors.Is(err, store.ErrRefused) {
		t.Errorf("a second task of one id: %v", err)
	}
	tx, err := p.pool.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback() //nolint:errcheck // it is what ends it
	if _, err := tx.ExecContext(t.Context(), "ALTER TABLE periodic_task RENAME TO elsewhere"); err != nil {
		t.Fatal(err)
	}
	if _, err := tasks.In(tx).Get(t.Context(), "kept"); !errors.Is(err, store.ErrNoSchema) {
		t.Errorf("without the table: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tasks.Get(over, "kept"); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is over: %v", err)
	}
}

// services: two schedulers and two executors run twenty tasks beside a program that
// writes, and no task has two jobs at a time.
func (p *program) services(t *testing.T, disturb func()) {
	stop := p.start(t)
	tasks := periodic.NewTasks(p.db.Tasks())
	for i := range 20 {
		task := periodic.NewTask(fmt.Sprintf("t%02d", i), "note", "every 1s")
		task.Args = fmt.Sprintf(`"t%02d"`, i)
		task.Overlap = []periodic.Overlap{periodic.OverlapSkip, periodic.OverlapQueue, periodic.OverlapReplace, periodic.OverlapAllow}[i%4]
		must(t, tasks.Add(t.Context(), task))
	}
	p.eventually(t, "each task has run once, and the job of the transaction", 1)
	if disturb != nil {
		disturb()
	}
	p.eventually(t, "each task has run three times", 3)
	stop()
	if got := p.count(t, `SELECT count(*) FROM (SELECT tracker, due FROM job WHERE tracker IS NOT NULL GROUP BY tracker, due HAVING count(*) > 1) AS d`); got != 0 {
		t.Errorf("%d ticks have two jobs", got)
	}
}

func (p *program) start(t *testing.T) (stop func()) {
	quiet := slog.New(slog.DiscardHandler)
	type service interface {
		Start(ctx context.Context) error
		Stop(ctx context.Context) error
	}
	var services []service
	for _, name := range []string{"a", "b"} {
		e, err := executor.New(p.db.Jobs(), executor.Config{Name: name, PollInterval: 100 * time.Millisecond, Logger: quiet})
		must(t, err)
		e.Register("note", func(_ context.Context, job *jobqueue.JobContext) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.ran[job.Args]++
			return nil
		})
		s, err := scheduler.New(p.db.Periodic(), scheduler.Config{Name: name, PollInterval: 100 * time.Millisecond, Logger: quiet})
		must(t, err)
		services = append(services, s, e)
	}
	for _, s := range services {
		must(t, s.Start(t.Context()))
	}
	return func() {
		for _, s := range services {
			must(t, s.Stop(context.Background()))
		}
	}
}

// eventually waits until each task has run so often.
func (p *program) eventually(t *testing.T, what string, times int) {
	t.Helper()
	storetest.Eventually(t, what, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for i := range 20 {
			if p.ran[fmt.Sprintf(`"t%02d"`, i)] < times {
				return false
			}
		}
		return p.ran[`"kept"`] == 1
	})
}

func (p *program) count(t *testing.T, query string) (n int) {
	t.Helper()
	must(t, p.pool.QueryRowContext(t.Context(), query).Scan(&n))
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
