package postgres

import (
	"context"
	"database/sql"
	"errors"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Server is how a program reaches PostgreSQL. Whoever knows a driver makes it.
type Server struct {
	sqldb.Pools

	// Listen is how watchers hear of changes; nil: they poll.
	Listen Listen
}

// New returns the database of a server. It makes a first connection, and closes the
// server's pools if it fails.
func New(ctx context.Context, s Server, o sqldb.Options) (*sqldb.DB, error) {
	o = o.WithDefaults()
	if o.PollOnly {
		s.Listen = nil
	}
	db := sqldb.New(&dialect{options: o, server: s}, s.Pools, o)
	err := db.Ping(ctx)
	if err == nil {
		err = findSchema(ctx, db, s, o)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Lender is a driver.Driver of a pool of the program's that knows how to listen.
type Lender interface {
	// Lend completes the server of that pool.
	Lend(s *Server, o sqldb.Options) error
}

// Lent are the pools of one that the program has opened, on a database of this name.
func Lent(pool *sql.DB, name string) sqldb.Pools {
	return sqldb.Pools{URL: "postgres:///" + name, Write: pool, Read: pool, Migrate: pool, Lent: true}
}
