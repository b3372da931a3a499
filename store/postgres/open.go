// Package postgres lets [store.Open] open databases of PostgreSQL 13 and later, with
// lib/pq. Import it for that:
//
//	import _ "github.com/nextrun/nextrun/store/postgres"
//
// It has no names. A program with its own pool needs it only for
// store.Options.ListenURL; see [store.New].
//
// [store.Open]: https://pkg.go.dev/github.com/nextrun/nextrun/store#Open
// [store.New]: https://pkg.go.dev/github.com/nextrun/nextrun/store#New
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/store/internal/connect"
	"github.com/nextrun/nextrun/store/internal/dburl"
	server "github.com/nextrun/nextrun/store/internal/postgres"
)

func init() { //nolint:gochecknoinits // as drivers of database/sql do
	connect.Register(sqldb.Postgres, connect.Driver{Open: open, Listen: listenAt})
}

// open opens a database and makes a first connection.
func open(ctx context.Context, u dburl.URL, o sqldb.Options) (*sqldb.DB, error) {
	o, u, err := settleSchema(o.WithDefaults(), u)
	if err != nil {
		return nil, err
	}
	at := place{dsn(u, o, false), u.Scrub}
	listen := at.listen
	if o.ListenURL != "" {
		if listen, err = listenAt(o); err != nil {
			return nil, err
		}
	}
	quick, err := pq.NewConnector(at.dsn)
	if err != nil {
		return nil, err
	}
	// Migrations may take their time. They see no other schema, so that they never
	// mistake a table there for nextrun's.
	slow, err := pq.NewConnector(dsn(u, o, true))
	if err != nil {
		return nil, err
	}
	slow.Dialer(&dialer{lines: &server.Lines{}})
	migrate := sql.OpenDB(connector{slow, true})
	migrate.SetMaxIdleConns(1)
	lines := &server.Lines{Patience: server.Patience(o.StatementTimeout)}
	quick.Dialer(&dialer{lines: lines})
	pool := sql.OpenDB(connector{quick, o.PollOnly || o.ListenURL != ""})
	pool.SetMaxOpenConns(o.MaxConns)
	pool.SetMaxIdleConns(o.MaxConns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return server.New(ctx, server.Server{
		Pools: sqldb.Pools{
			URL: u.Redacted(), Write: pool, Read: pool, Migrate: migrate, Closers: []func() error{pool.Close, migrate.Close},
			Doubt: lines.Doubt,
		},
		Listen: listen,
	}, o)
}

// listenAt makes the watchers listen where the options say.
func listenAt(o sqldb.Options) (server.Listen, error) {
	u, err := dburl.Parse(o.ListenURL)
	if err == nil && u.Postgres == nil {
		err = errors.New("it must be a URL of PostgreSQL")
	}
	if err != nil {
		return nil, fmt.Errorf("store.Options.ListenURL: %w", err)
	}
	return place{dsn(u, o, false), u.Scrub}.listen, nil
}
