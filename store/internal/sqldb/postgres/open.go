// Package postgres is what package sqldb needs of PostgreSQL 13 and later: its
// connections, LISTEN, the schema, and the answers of [sqldb.Dialect].
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/dburl"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// Open opens a database and makes a first connection.
func Open(ctx context.Context, u dburl.URL, o sqldb.Options) (*sqldb.DB, error) {
	o, u, err := settleSchema(o.WithDefaults(), u)
	if err != nil {
		return nil, err
	}
	at := dsn(u, o)
	quick, err := pq.NewConnector(at)
	if err != nil {
		return nil, err
	}
	// Migrations may take their time. They see no other schema, so that they never
	// mistake a table there for nextrun's.
	slow, err := pq.NewConnector(dsnOnly(u, o))
	if err != nil {
		return nil, err
	}
	d := &dialect{options: o, dsn: at, scrub: u.Scrub}
	if err := d.listen(); err != nil {
		return nil, err
	}
	migrate := sql.OpenDB(crashpoint.Connector(slow))
	migrate.SetMaxIdleConns(1)
	quick.Dialer(&dialer{patience: o.StatementTimeout + answerGrace})
	pool := sql.OpenDB(crashpoint.Connector(connector{quick, &d.closed}))
	d.pool = pool
	pool.SetMaxOpenConns(o.MaxConns)
	pool.SetMaxIdleConns(o.MaxConns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	if o.Quiet {
		pool.SetConnMaxIdleTime(quietConn)
		migrate.SetMaxIdleConns(0)
	}
	db := sqldb.New(d, sqldb.Pools{
		URL: u.Redacted(), Write: pool, Read: pool, Migrate: migrate, Closers: []func() error{pool.Close, migrate.Close},
	}, o)
	if err := db.Ping(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := findSchema(ctx, db, migrate, o, true); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// quietConn is how long connections stay that nobody uses, where the database may sleep. It is
// longer than a scheduler's lead: what it has prepared is void without the connections.
const quietConn = 10 * time.Second

// Adopt returns the database of a pool that the program has opened, given its name.
func Adopt(ctx context.Context, pool *sql.DB, name string, o sqldb.Options) (*sqldb.DB, error) {
	d := &dialect{options: o.WithDefaults(), pool: pool, scrub: func(err error) error { return err }}
	if err := d.listen(); err != nil {
		return nil, err
	}
	db := sqldb.New(d, sqldb.Pools{URL: "postgres:///" + name, Write: pool, Read: pool, Migrate: pool}, o)
	if err := findSchema(ctx, db, pool, o, false); err != nil {
		return nil, err
	}
	return db, nil
}

// listen has the watchers listen where the options say.
func (d *dialect) listen() error {
	if listenURL := d.options.ListenURL; listenURL != "" {
		u, err := dburl.Parse(listenURL)
		if err == nil && u.Postgres == nil {
			err = errors.New("it must be a URL of PostgreSQL")
		}
		if err != nil {
			return fmt.Errorf("store.Options.ListenURL: %w", err)
		}
		d.dsn, d.scrub = dsn(u, d.options), u.Scrub
	}
	if d.options.PollOnly {
		d.dsn = ""
	}
	return nil
}
