package drivers_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/nextrun/nextrun/internal/testkit/pooltest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store"
)

// terminate ends the connections of everybody else.
func terminate(d *storetest.Database) func() {
	return func() {
		d.One("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	}
}

func TestPgx(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	pool, err := sql.Open("pgx", d.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pooltest.Run(t, pool, store.Options{ListenURL: d.URL}, terminate(d))
}

// The way of those who use pgx's own pool for the rest of their program.
func TestPgxOverItsOwnPool(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	own, err := pgxpool.New(t.Context(), d.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	pool := stdlib.OpenDBFromPool(own)
	defer pool.Close()
	pooltest.Run(t, pool, store.Options{}, terminate(d))
}

// The way through a transaction pooler, without prepared statements.
func TestPgxWithSimpleProtocol(t *testing.T) {
	t.Parallel()
	config, err := pgx.ParseConfig(storetest.PostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	pool := stdlib.OpenDB(*config)
	defer pool.Close()
	pooltest.Run(t, pool, store.Options{}, nil)
}

func TestSQLiteWithoutCgo(t *testing.T) {
	t.Parallel()
	pool, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "app.db")+
		"?_pragma=journal_mode(wal)&_pragma=foreign_keys(on)&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pooltest.Run(t, pool, store.Options{}, nil)
}
