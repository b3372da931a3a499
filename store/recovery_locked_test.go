package store_test

import (
	"context"
	"database/sql"
	"strconv"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// Nobody waits for the table of sessions, and nobody stops without it.
func TestLockedSessionsStopNobody(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	stop := startScheduler(d, scheduler.Config{Name: "warm", Logger: quiet()})
	d.Exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'report', 'yearly', 'allow')")
	lock := locks(t, d, "LOCK TABLE worker_session IN ACCESS EXCLUSIVE MODE")
	for n := 1; n <= 10; n++ {
		d.Exec("UPDATE periodic_task SET nextrun = clock_timestamp() AT TIME ZONE 'UTC' WHERE id = 'report'")
		until(d, "the task is submitted", func() bool { return d.One("SELECT count(*) FROM job WHERE task = 'report'") == strconv.Itoa(n) })
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	stop()
}

// locks runs a statement in a transaction that stays open.
func locks(t *testing.T, d *migrated.Database, statement string) *sql.Tx {
	t.Helper()
	pool, err := sql.Open("postgres", d.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	return tx
}

// An executor that stops still runs its jobs to their end. Nobody takes them meanwhile, even
// if somebody has its row locked, so that it cannot say that it stops: its session stays.
func TestHolderThatStopsKeepsItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	cfg := executing("first")
	cfg.ShutdownGrace = never
	e, err := executor.New(opened(t, d.URL, store.Options{}).Jobs(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	end, begun := make(chan struct{}), make(chan struct{})
	e.Register("report", func(context.Context, *jobqueue.JobContext) error {
		close(begun)
		<-end
		return nil
	})
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-begun
	shown(d, 1)
	taken, _ := heirs["executor"](d)
	shown(d, 2)
	lock := locks(t, d, "SELECT 1 FROM worker_session WHERE worker LIKE 'first@%' FOR UPDATE")
	stopped := make(chan error, 1)
	go func() { stopped <- e.Stop(context.Background()) }()
	// It tries to remove the row, gives up, and tries again.
	attempts := map[string]bool{}
	until(d, "the executor tries a second time to remove its row", func() bool {
		attempts[d.One(`SELECT coalesce((SELECT min(query_start) FROM pg_stat_activity
			WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE FROM worker_session%' AND datname = current_database())::text, '')`)] = true
		delete(attempts, "")
		return len(attempts) > 1
	})
	if n := d.One(`SELECT count(*) FROM worker_session AS s WHERE worker LIKE 'first@%'
			AND EXISTS (SELECT 1 FROM pg_stat_activity AS a WHERE a.application_name = s.session)`); n != "1" {
		t.Error("its session has ended before its row is gone")
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	until(d, "its row is gone", func() bool { return livingWorkers(d, "first") == 0 })
	close(end)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	select {
	case <-taken:
		t.Error("another executor has taken the job while the first one was stopping")
	default:
	}
}
