package pooltest

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/pooler"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// Shared has nextrun work behind a pooler in transaction mode, beside another program that gets the same session of the
// server: nothing of nextrun's stays in it. open opens the database at a URL with PollOnly.
func Shared(t *testing.T, open func(url string) *store.DB) {
	t.Helper()
	d := migrated.New(t, storetest.Postgres)
	url := pooler.New(t, d.URL)
	db := open(url)
	ran := make(chan struct{}, 1000)
	const often = 100 * time.Millisecond
	e, err := executor.New(db.Jobs(), executor.Config{Name: "e", PollInterval: often})
	must(t, err)
	e.Register("note", func(context.Context, *jobqueue.JobContext) error { ran <- struct{}{}; return nil })
	s, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "s", PollInterval: often})
	must(t, err)
	d.Exec("INSERT INTO periodic_task (id, task, timer) VALUES ('each second', 'note', 'every 1s')")
	must(t, e.Start(t.Context()))
	must(t, s.Start(t.Context()))
	other, err := sql.Open("postgres", url)
	must(t, err)
	defer func() { must(t, other.Close()) }()
	for range 4 {
		<-ran
		var left string
		must(t, other.QueryRowContext(t.Context(), `SELECT concat_ws(', ', (SELECT string_agg(name, ', ') FROM pg_prepared_statements),
			nullif(current_setting('nextrun.connection', true), ''), (SELECT string_agg(channel, ', ') FROM pg_listening_channels() AS channel),
			(SELECT string_agg(name || ' = ' || setting, ', ') FROM pg_settings WHERE source = 'session' AND name LIKE '%timeout'),
			(SELECT string_agg('advisory lock', ', ') FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()))`).Scan(&left))
		if left != "" {
			t.Errorf("the session has %s", left)
		}
	}
	must(t, s.Stop(context.Background()))
	must(t, e.Stop(context.Background()))
}
