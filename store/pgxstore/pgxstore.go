// Package pgxstore is nextrun on a pool of pgx: the database of schedulers, executors,
// relays, tasks, queues and outbox, and pgx's transactions as those that In takes. A
// program that uses it links no other driver.
//
//	pool, err := pgxpool.New(ctx, url)
//	db, err := pgxstore.New(ctx, pool, store.Options{})
//	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "app"})
//
// In a transaction of the program's own:
//
//	tx, err := pool.Begin(ctx)
//	_, err = jobqueue.Submit(ctx, queue.In(pgxstore.Tx(tx)), "send-invoice", invoice)
//	err = tx.Commit(ctx)
package pgxstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/internal/postgres"
)

// New returns the database of a pool. The pool stays the program's: close the database
// first, which leaves the pool open. The pool's limits count: a scheduler, an executor and
// a relay need a few connections at a time; ten are good.
//
// Watchers listen for changes on a connection each, beside the pool, with the pool's
// configuration and its BeforeConnect, or at [store.Options.ListenURL]. With PollOnly they
// do not, as behind a transaction pooler.
//
// Of the options Create, ConnectTimeout and MaxConns are of no use here. Timeouts of
// statements and locks are set in each transaction. When a connection falls silent, nextrun resets
// the pool: connections that nobody uses are closed, others when they come back.
func New(ctx context.Context, pool *pgxpool.Pool, options store.Options) (*store.DB, error) {
	if pool == nil {
		return nil, errors.New("pgxstore.New: the *pgxpool.Pool is nil")
	}
	lines := &postgres.Lines{Patience: postgres.Patience(options.StatementTimeout)}
	over := sql.OpenDB(lent{stdlib.GetPoolConnector(pool), pool, lines, options.PollOnly || options.ListenURL != ""})
	over.SetMaxIdleConns(0) // the pool keeps them
	db, err := store.New(ctx, over, options)
	if err != nil {
		return nil, errors.Join(err, over.Close())
	}
	return db, nil
}

// lent makes connections of a pool. It is its own driver, so that package store can ask it
// how to listen.
type lent struct {
	driver.Connector

	pool   *pgxpool.Pool
	lines  *postgres.Lines
	shared bool // the sessions are a pooler's
}

var _ postgres.Lender = lent{}

// Driver implements [driver.Connector].
func (l lent) Driver() driver.Driver { return l }

// Open implements [driver.Driver]; nobody calls it.
func (lent) Open(string) (driver.Conn, error) {
	return nil, errors.New("pgxstore: use the pool")
}

// Lend implements [postgres.Lender].
func (l lent) Lend(s *postgres.Server, o sqldb.Options) error {
	s.Closers = []func() error{s.Write.Close}
	s.Doubt = l.doubt
	at, err := placeOf(l.pool.Config(), o.ListenURL)
	if err != nil {
		return err
	}
	s.Listen = at.listen
	return nil
}

// doubt replaces the connections of the pool: those that nobody uses at once, not after a farewell that nobody hears.
func (l lent) doubt() {
	l.lines.Doubt()
	for _, idle := range l.pool.AcquireAllIdle(context.Background()) {
		_ = idle.Hijack().PgConn().Conn().Close()
	}
	l.pool.Reset()
}
