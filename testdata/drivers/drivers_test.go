package drivers_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/nextrun/nextrun/internal/testkit/pooltest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store"
)

// nextrun runs on pools of drivers that it does not know: of pgx, also over its own pool, which programs use for the rest, and
// without prepared statements, as through a transaction pooler; and of a SQLite without cgo.
func TestPoolsOfOtherDrivers(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T, url string) *sql.DB{
		"pgx": func(t *testing.T, url string) *sql.DB {
			pool, err := sql.Open("pgx", url)
			must(t, err)
			return pool
		},
		"the pool of pgx": func(t *testing.T, url string) *sql.DB { return stdlib.OpenDBFromPool(newPool(t, url)) },
		"pgx with the simple protocol": func(t *testing.T, url string) *sql.DB {
			config, err := pgx.ParseConfig(url)
			must(t, err)
			config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
			return stdlib.OpenDB(*config)
		},
		"SQLite without cgo": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if open == nil {
				pool := withoutCgo(t)
				defer pool.Close()
				pooltest.Run(t, pool, store.Options{}, nil)
				return
			}
			d := storetest.New(t, storetest.Postgres)
			pool := open(t, d.URL)
			defer pool.Close()
			options := store.Options{}
			if name == "pgx" {
				options.ListenURL = d.URL
			}
			pooltest.Run(t, pool, options, func() {
				d.One("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
			})
		})
	}
}

// withoutCgo is a pool of modernc.org/sqlite.
func withoutCgo(t *testing.T) *sql.DB {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "app.db")+
		"?_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)")
	must(t, err)
	return pool
}
