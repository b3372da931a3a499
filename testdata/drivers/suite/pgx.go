//go:build pgxsuite

// Package migrated is a part of internal/testkit/migrated where scripts/test-pgx runs the
// tests: databases of PostgreSQL are opened over a pool of pgx.
package migrated

import (
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/pgxstore"
)

func init() {
	withoutPgx := openStore
	openStore = func(d *storetest.Database, address string, o store.Options) (*store.DB, error) {
		if !strings.HasPrefix(address, "postgres") {
			return withoutPgx(d, address, o)
		}
		config, err := pgxpool.ParseConfig(address)
		if err != nil {
			return nil, err
		}
		config.MaxConns = sqldb.DefaultMaxConns
		pool, err := pgxpool.NewWithConfig(d.Context(), config)
		if err != nil {
			return nil, err
		}
		d.Cleanup(pool.Close) // after the database
		return pgxstore.New(d.Context(), pool, o)
	}
}
