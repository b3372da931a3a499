// Package connect opens databases: it knows the URLs, and finds out what the pool of a
// program is connected to. The rest is in the packages postgres and sqlite, and in those
// that know a driver.
package connect

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/store/internal/dburl"
	"github.com/nextrun/nextrun/store/internal/postgres"
	"github.com/nextrun/nextrun/store/internal/sqlite"
)

// Driver is what a package that knows a driver can do.
type Driver struct {
	// Open opens the database of a URL.
	Open func(context.Context, dburl.URL, sqldb.Options) (*sqldb.DB, error)
	// Listen is how watchers listen at Options.ListenURL. It is nil on SQLite.
	Listen func(sqldb.Options) (postgres.Listen, error)
}

var drivers = map[sqldb.System]Driver{}

// Register makes a driver known. Call it while the program starts.
func Register(system sqldb.System, d Driver) { drivers[system] = d }

// DriverOf returns the driver that is registered for a system.
func DriverOf(system sqldb.System) (Driver, error) {
	d, ok := drivers[system]
	if !ok {
		return d, fmt.Errorf(`this program has no driver for it; let it import _ "github.com/nextrun/nextrun/store/%s"`, system)
	}
	return d, nil
}

// Open opens the database that a URL names, `sqlite:PATH` or `postgres://...`,
// and makes a first connection. Neither errors nor [sqldb.DB.URL] show a password.
// Close it after use.
func Open(ctx context.Context, databaseURL string, o sqldb.Options) (*sqldb.DB, error) {
	u, err := dburl.Parse(databaseURL)
	if err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	system := sqldb.Postgres
	if u.Postgres == nil {
		system = sqldb.SQLite
	}
	var db *sqldb.DB
	driver, err := DriverOf(system)
	if err == nil {
		db, err = driver.Open(ctx, u, o)
	}
	if err != nil {
		if !errors.Is(err, sqldb.ErrNoSchema) { // its words are ours, and may be like a password
			err = u.Scrub(err)
		}
		return nil, fmt.Errorf("open %s: %w", u.Redacted(), err)
	}
	return db, nil
}

// Adopt returns the database of a pool that the program has opened. Close leaves the
// pool open.
func Adopt(ctx context.Context, pool *sql.DB, o sqldb.Options) (*sqldb.DB, error) {
	if pool == nil {
		return nil, errors.New("store.New: the *sql.DB is nil")
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	db, err := adopt(ctx, pool, o)
	if err != nil {
		return nil, fmt.Errorf("use the program's database: %w", err)
	}
	return db, nil
}

func adopt(ctx context.Context, pool *sql.DB, o sqldb.Options) (*sqldb.DB, error) {
	limits := o.WithDefaults()
	asking, cancel := context.WithTimeout(ctx, limits.ConnectTimeout+limits.LockTimeout)
	defer cancel()
	if err := pool.PingContext(asking); err != nil {
		return nil, err
	}
	var answer string
	errPostgres := pool.QueryRowContext(asking, "SELECT current_database() FROM (SELECT current_setting('server_version_num')) AS v").Scan(&answer)
	if errPostgres == nil {
		s := postgres.Server{Pools: postgres.Lent(pool, answer)}
		if err := listenBeside(&s, pool, o); err != nil {
			return nil, err
		}
		return postgres.New(ctx, s, o)
	}
	errSQLite := pool.QueryRowContext(asking, "SELECT sqlite_version()").Scan(&answer)
	if errSQLite == nil {
		return sqlite.Adopt(asking, pool, o)
	}
	return nil, fmt.Errorf("it is neither PostgreSQL (%w) nor SQLite (%w)", errPostgres, errSQLite)
}

// listenBeside makes the server of a program's pool listen, if the pool's driver or the options
// say how.
func listenBeside(s *postgres.Server, pool *sql.DB, o sqldb.Options) (err error) {
	if lender, ok := pool.Driver().(postgres.Lender); ok {
		return lender.Lend(s, o)
	}
	if o.ListenURL == "" {
		return nil
	}
	driver, err := DriverOf(sqldb.Postgres)
	if err != nil {
		return fmt.Errorf("store.Options.ListenURL: %w", err)
	}
	s.Listen, err = driver.Listen(o)
	return err
}
