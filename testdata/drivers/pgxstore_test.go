package drivers_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/pooltest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/pgxstore"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("database/sql.(*DB).connectionOpener"), goleak.Cleanup(func(code int) { os.Exit(code) }))
}

// newPool returns a pool on a database, which is closed after the test.
func newPool(t *testing.T, url string, change ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	must(t, err)
	for _, c := range change {
		c(config)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func openPgx(t *testing.T, pool *pgxpool.Pool, o store.Options) *store.DB {
	t.Helper()
	db, err := pgxstore.New(t.Context(), pool, o)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

// A program with the pool of pgx: its own transactions, errors, and services whose
// connections somebody ends.
func TestPgxPool(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]pgx.QueryExecMode{
		"as ever": pgx.QueryExecModeCacheStatement, "simple protocol": pgx.QueryExecModeSimpleProtocol, "exec": pgx.QueryExecModeExec,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := storetest.New(t, storetest.Postgres)
			pool := newPool(t, d.URL, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
			own := stdlib.OpenDBFromPool(pool)
			defer func() { must(t, own.Close()) }()
			pooltest.RunOn(t, own, openPgx(t, pool, store.Options{}), func() {
				d.One("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
			})
		})
	}
}

// What a transaction of pgx writes is there after its commit, and after no other.
func TestPgxTransaction(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	for name, mode := range map[string]pgx.QueryExecMode{"as ever": pgx.QueryExecModeCacheStatement, "simple protocol": pgx.QueryExecModeSimpleProtocol} {
		pool := newPool(t, d.URL, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
		db := openPgx(t, pool, store.Options{})
		for _, commit := range []bool{true, false} {
			d.Exec("DELETE FROM periodic_task; DELETE FROM job; DELETE FROM outbox_message; DELETE FROM event_store")
			tx, err := pool.Begin(t.Context())
			must(t, err)
			write(t, db, tx)
			end := tx.Rollback
			if commit {
				end = tx.Commit
			}
			must(t, end(t.Context()))
			got := d.One(`SELECT (SELECT count(*) FROM periodic_task) || ' ' || (SELECT count(*) FROM job) || ' ' || (SELECT count(*) FROM event_store)`)
			if want := map[bool]string{true: "1 2 1", false: "0 0 0"}[commit]; got != want {
				t.Errorf("%s, commit %t: tasks, jobs and events %s, want %s", name, commit, got, want)
			}
		}
	}
}

// write adds a task, two jobs and an event in a transaction, and reads them there.
func write(t *testing.T, db *store.DB, outer pgx.Tx) {
	t.Helper()
	ctx, tx := t.Context(), pgxstore.Tx(outer)
	tasks, queue := periodic.NewTasks(db.Tasks()).In(tx), jobqueue.NewQueue(db.Jobs()).In(tx)
	task := periodic.NewTask("t", "note", "Mon 09:00 Europe/Berlin")
	task.Starts, task.Priority, task.Args = time.Date(2050, 1, 2, 3, 4, 5, 6000, time.UTC), 7, `{"a": "b \"c\""}`
	must(t, tasks.Add(ctx, task))
	got, err := tasks.Get(ctx, "t")
	must(t, err)
	if !got.Starts.Equal(task.Starts) || got.Priority != task.Priority || got.Args != task.Args || !got.Enabled || got.Deadline != nil {
		t.Errorf("the task in its transaction: %+v", got)
	}
	jids, err := queue.Submit(ctx, jobqueue.Job{Task: "note"}, jobqueue.Job{Task: "note", Args: `"two"`})
	must(t, err)
	job, err := queue.Get(ctx, jids[1])
	must(t, err)
	if job.Args != `"two"` || job.State != jobqueue.Waiting || job.Submitted.IsZero() {
		t.Errorf("the job in its transaction: %+v", job)
	}
	events, err := db.EventsIn(ctx, tx)
	must(t, err)
	_, err = outbox.AppendTx(ctx, events, outbox.Event{Topic: "orders", Type: "placed", AggregateID: "1", Payload: "{}"})
	must(t, err)
	// A savepoint of pgx is a transaction, too.
	inner, err := outer.Begin(ctx)
	must(t, err)
	if err := periodic.NewTasks(db.Tasks()).In(pgxstore.Tx(inner)).Add(ctx, task); !errors.Is(err, periodic.ErrDuplicate) || !errors.Is(err, store.ErrRefused) {
		t.Errorf("a second task of one id: %v", err)
	}
	must(t, inner.Rollback(ctx))
}

// All types that a user's Submitter may read, as database/sql gives them.
func TestPgxTransactionReadsTypes(t *testing.T) {
	t.Parallel()
	pool := newPool(t, storetest.PostgresURL(t))
	tx, err := pool.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(t.Context()) //nolint:errcheck // nothing was written
	rows, err := pgxstore.Tx(tx).QueryContext(t.Context(), `SELECT n, n = 1, 2::smallint, 1.5::float8, 12.50::numeric, 'x'::bytea, NULL::text,
		'{"a":1}'::jsonb, $1::text, cardinality($2::text[]), timestamp '2026-01-02 03:04:05.000006', date '2026-01-02',
		'00000000-0000-0000-0000-000000000001'::uuid, '{1,2}'::int[], c.xmin IS NULL
		FROM generate_series(1, 2) AS n LEFT JOIN pg_class AS c ON false ORDER BY n`, "it's", []string{"a", "b"})
	must(t, err)
	var got []string
	for rows.Next() {
		var n, small, card int
		var is, gone bool
		var f float64
		var numeric, json, text, id, list string
		var bytes []byte
		var null *string
		var at, day time.Time
		must(t, rows.Scan(&n, &is, &small, &f, &numeric, &bytes, &null, &json, &text, &card, &at, &day, &id, &list, &gone))
		if small != 2 || f != 1.5 || numeric != "12.50" || string(bytes) != "x" || null != nil || json != `{"a": 1}` || text != "it's" || card != 2 ||
			at.Format(time.RFC3339Nano) != "2026-01-02T03:04:05.000006Z" || day.Format(time.DateOnly) != "2026-01-02" || list != "{1,2}" ||
			!strings.HasSuffix(id, "-000000000001") || is != (n == 1) || !gone {
			t.Error(n, is, small, f, numeric, bytes, null, json, text, card, at, day, id, list, gone)
		}
		got = append(got, text)
	}
	must(t, rows.Err())
	if len(got) != 2 {
		t.Errorf("%d rows, want 2", len(got))
	}
	var sum int
	must(t, pgxstore.Tx(tx).QueryRowContext(t.Context(), "SELECT 1 + $1::int", 2).Scan(&sum))
	if err := pgxstore.Tx(tx).QueryRowContext(t.Context(), "SELECT 1/0").Scan(&sum); err == nil || !strings.Contains(err.Error(), "division by zero") {
		t.Errorf("a statement that fails: %v", err)
	}
}

// A row that another process inserts is scheduled at once, although nobody polls, also
// after the connection that listens was lost.
func TestPgxListens(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	for name, listen := range map[string]func(*store.Options) []func(*pgxpool.Config){
		"of the pool": func(*store.Options) []func(*pgxpool.Config) { return nil },
		"by BeforeConnect": func(*store.Options) []func(*pgxpool.Config) {
			return []func(*pgxpool.Config){func(c *pgxpool.Config) {
				password := c.ConnConfig.Password
				c.ConnConfig.Password = "not this one"
				c.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error { c.Password = password; return nil }
			}}
		},
		"at ListenURL": func(o *store.Options) []func(*pgxpool.Config) { o.ListenURL = d.URL; return nil },
	} {
		var o store.Options
		change := listen(&o)
		db := openPgx(t, newPool(t, d.URL, change...), o)
		events := make(chan scheduler.Event, 1000)
		s, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "s", PollInterval: time.Hour, Observe: func(e scheduler.Event) { events <- e }})
		must(t, err)
		must(t, s.Start(t.Context()))
		for _, lost := range []bool{false, true} {
			listening := "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
			storetest.Eventually(t, name+": somebody listens", func() bool { return d.One(listening) != "0" })
			if lost {
				pid := d.One("SELECT min(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'")
				d.One("SELECT pg_terminate_backend(" + pid + ")")
				storetest.Eventually(t, name+": somebody listens again", func() bool { return d.One(listening+" AND pid <> "+pid) != "0" })
			}
			d.Exec("DELETE FROM periodic_task; DELETE FROM job; INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'note', 'every 1s')")
			storetest.Eventually(t, name+": a job", func() bool { return d.One("SELECT count(*) FROM job WHERE tracker = 't'") != "0" })
		}
		must(t, s.Stop(context.Background()))
		if got := d.One("SELECT count(*) FROM worker"); got != "0" {
			t.Errorf("%s: %s workers after the stop, want none", name, got)
		}
	}
}

func TestPgxConnectionsThatFallSilent(t *testing.T) {
	t.Parallel()
	pooltest.Silence(t, func(url string) *store.DB { return openPgx(t, newPool(t, url), store.Options{}) })
}

func TestPgxSessionsOfAPooler(t *testing.T) {
	t.Parallel()
	pooltest.Shared(t, func(url string) *store.DB { return openPgx(t, newPool(t, url), store.Options{PollOnly: true}) })
}

// A context that ends cancels the statement on the server, and a lock that is not free in
// time is contention.
func TestPgxCancelAndTimeouts(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	pool := newPool(t, d.URL)
	db := openPgx(t, pool, store.Options{LockTimeout: 50 * time.Millisecond})
	d.Exec("INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'note', 'daily')")
	holder, err := pool.Begin(t.Context())
	must(t, err)
	_, err = holder.Exec(t.Context(), "SELECT 1 FROM periodic_task WHERE id = 't' FOR UPDATE")
	must(t, err)
	tasks := periodic.NewTasks(db.Tasks())
	if err := tasks.Pause(t.Context(), "t", periodic.Pause{}); !errors.Is(err, store.ErrContended) {
		t.Errorf("a row that somebody else holds: %v", err)
	}
	patient := openPgx(t, pool, store.Options{LockTimeout: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- periodic.NewTasks(patient.Tasks()).Pause(ctx, "t", periodic.Pause{}) }()
	const waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
	storetest.Eventually(t, "it waits", func() bool { return d.One(waiting) == "1" })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	storetest.Eventually(t, "it does not wait any more", func() bool { return d.One(waiting) == "0" })
	must(t, holder.Rollback(t.Context()))
	must(t, tasks.Pause(t.Context(), "t", periodic.Pause{}))
}

func TestPgxWrongUse(t *testing.T) {
	t.Parallel()
	if _, err := pgxstore.New(t.Context(), nil, store.Options{}); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("without a pool: %v", err)
	}
	pool := newPool(t, storetest.PostgresURL(t))
	for want, o := range map[string]store.Options{
		"ListenURL": {ListenURL: "postgres://u:secret@host:x/"}, "LockTimeout": {LockTimeout: -1}, "no schema": {Schema: "apart"},
	} {
		if _, err := pgxstore.New(t.Context(), pool, o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

// A program over pgx links no other driver, nothing that migrates, and few modules.
func TestPgxLinks(t *testing.T) {
	t.Parallel()
	const list = `{{with .Module}}{{.Path}}{{end}}`
	out, err := exec.CommandContext(t.Context(), "go", "list", "-C", "../../store/pgxstore", "-deps", "-f", list, ".", "github.com/nextrun/nextrun/periodic/scheduler",
		"github.com/nextrun/nextrun/jobqueue/executor").Output()
	must(t, err)
	modules := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
	want := []string{
		"github.com/google/uuid", "github.com/jackc/pgpassfile", "github.com/jackc/pgservicefile",
		"github.com/jackc/pgx/v5", "github.com/jackc/puddle/v2", "github.com/jmoiron/sqlx", "github.com/nextrun/nextrun",
		"github.com/nextrun/nextrun/store/pgxstore", "golang.org/x/sync", "golang.org/x/text",
	}
	if !slices.Equal(modules, want) {
		t.Errorf("it links\n%s\nwant\n%s", strings.Join(modules, "\n"), strings.Join(want, "\n"))
	}
}
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
