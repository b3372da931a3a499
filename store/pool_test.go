package store_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/pooltest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// sqlitePool is a program's pool with the DSN that [store.New] asks for.
func sqlitePool(t *testing.T, path, parameters string) *sql.DB {
	t.Helper()
	return pool(t, "sqlite3", "file:"+path+"?"+parameters)
}

func pool(t *testing.T, driver, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, db) })
	return db
}

// A program gives nextrun the pool that it has.
func TestNewRunsOnTheProgramsPool(t *testing.T) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		d := storetest.New(t, storetest.Postgres)
		app := pool(t, "postgres", d.URL)
		pooltest.Run(t, app, store.Options{}, func() {
			d.One("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		})
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		app := sqlitePool(t, filepath.Join(t.TempDir(), "app.db"), "_journal_mode=WAL&_foreign_keys=on&_busy_timeout=5000")
		pooltest.Run(t, app, store.Options{}, nil)
	})
}

// With a URL to listen at, watchers are woken as on nextrun's own connections.
func TestNewListensAtAURL(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	db, err := store.New(t.Context(), pool(t, "postgres", d.URL), store.Options{ListenURL: d.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.Of(db).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	woken := make(chan struct{}, 10)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		db.Periodic().Watch(ctx, "", func() { woken <- struct{}{} }, func(err error) { t.Error(err) })
	}()
	<-woken // it listens
	if err := periodic.NewTasks(db.Tasks()).Add(ctx, periodic.NewTask("a", "note", "daily")); err != nil {
		t.Error(err)
	}
	<-woken
	stop()
	<-ended
}

// In a schema of its own nextrun finds its tables in transactions whose search_path
// begins with it, and touches no table of the same name elsewhere.
func TestNewInASchema(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	options := store.Options{Schema: "nr", Create: true}
	own, err := store.Open(t.Context(), d.URL, options)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, own)
	if _, err := migrations.Of(own).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.Exec("CREATE TABLE periodic_task (LIKE nr.periodic_task INCLUDING ALL)")

	if _, err := store.New(t.Context(), d.SQL.DB, options); err == nil || !strings.Contains(err.Error(), `search_path begin with "nr"`) {
		t.Errorf("a pool with the schema public: %v", err)
	}
	tx, err := d.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	tasks := periodic.NewTasks(own.Tasks()).In(tx)
	if err := tasks.Add(t.Context(), periodic.NewTask("a", "note", "daily")); err == nil || !strings.Contains(err.Error(), `SET LOCAL search_path`) {
		t.Errorf("a transaction with the schema public: %v", err)
	}
	if _, err := tx.Exec("SET LOCAL search_path = nr, public"); err != nil {
		t.Fatal(err)
	}
	if err := tasks.Add(t.Context(), periodic.NewTask("a", "note", "daily")); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	d.Want("1", "SELECT count(*) FROM nr.periodic_task WHERE id = 'a'")
	d.Want("0", "SELECT count(*) FROM public.periodic_task")

	mark := "?"
	if strings.Contains(d.URL, "?") {
		mark = "&"
	}
	pooltest.Run(t, pool(t, "postgres", d.URL+mark+"search_path=nr"), options, nil)
}

// What would fail later is refused when the pool is handed over.
func TestNewRefusesAPoolThatLacksSomething(t *testing.T) {
	t.Parallel()
	const good = "_journal_mode=WAL&_foreign_keys=on&_busy_timeout=5000"
	file := func() string { return filepath.Join(t.TempDir(), "app.db") }
	one := sqlitePool(t, file(), "_journal_mode=WAL&_busy_timeout=5000")
	if _, err := one.Exec("PRAGMA foreign_keys = on"); err != nil { // reaches this connection only
		t.Fatal(err)
	}
	few := sqlitePool(t, file(), good)
	few.SetMaxOpenConns(1)
	for _, test := range []struct {
		pool    *sql.DB
		options store.Options
		want    string
	}{
		{nil, store.Options{}, "nil"},
		{one, store.Options{}, "foreign_keys is off on a connection of the pool"},
		{few, store.Options{}, "limited to 1 connections"},
		{sqlitePool(t, file(), "_foreign_keys=on&_busy_timeout=5000"), store.Options{}, "journal_mode is delete, and nextrun needs WAL"},
		{sqlitePool(t, file(), "_journal_mode=WAL&_foreign_keys=on&_busy_timeout=0"), store.Options{}, "busy_timeout is 0"},
		{sqlitePool(t, ":memory:", good), store.Options{}, "in memory"},
		{sqlitePool(t, file(), good), store.Options{ListenURL: "postgres://localhost/x"}, "ListenURL is for PostgreSQL"},
		{pool(t, "postgres", storetest.PostgresURL(t)), store.Options{ListenURL: "sqlite:x"}, "ListenURL: it must be a URL of PostgreSQL"},
		{pool(t, "postgres", storetest.PostgresURL(t)), store.Options{LockTimeout: -1}, "LockTimeout"},
	} {
		_, err := store.New(t.Context(), test.pool, test.options)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("the error is %v, want one with %q", err, test.want)
		}
	}
	gone := pool(t, "postgres", "postgres://nobody:hidden-secret@127.0.0.1:1/none?sslmode=disable")
	if _, err := store.New(t.Context(), gone, store.Options{}); err == nil || strings.Contains(err.Error(), "hidden-secret") {
		t.Errorf("a server that is down: %v", err)
	}
}

func TestConnectionsThatFallSilent(t *testing.T) {
	t.Parallel()
	pooltest.Silence(t, func(url string) *store.DB {
		db, err := store.Open(t.Context(), url, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closed(t, db) })
		return db
	})
}

func TestSessionsOfAPooler(t *testing.T) {
	t.Parallel()
	pooltest.Shared(t, func(url string) *store.DB {
		db, err := store.Open(t.Context(), url, store.Options{PollOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closed(t, db) })
		return db
	})
}
