package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	dialect Dialect
	words   Words
	pools   Pools
	timing  timing
	options Options
	health  health
	local   local
}

// Pools are the connections of a database.
type Pools struct {
	URL     string  // as it may be shown
	Write   *sql.DB // SQLite: one connection, transactions are immediate
	Read    *sql.DB // PostgreSQL: the same pool
	Migrate *sql.DB // SQLite: that of Write
	// Begin begins a transaction; nil: Write and Read can do that themselves.
	Begin func(ctx context.Context, readOnly bool) (Transaction, error)
	// Closers close what was opened.
	Closers []func() error
	// Doubt is called when a connection was found to be silent: others may be, too. nil: nothing is to be done.
	Doubt func()
	// Lent: the pool is the program's.
	Lent bool
}

// Transaction is one that has begun.
type Transaction interface {
	DBTX
	Commit() error
	Rollback() error
}

// New returns the database of these pools. It uses no connection.
func New(d Dialect, p Pools, o Options) *DB {
	db := &DB{dialect: d, words: d.Words(), pools: p, options: o.WithDefaults()}
	db.timing = timing{words: &db.words, options: db.options}
	if p.Begin == nil {
		db.pools.Begin = p.begin
	}
	return db
}

func (p Pools) begin(ctx context.Context, readOnly bool) (Transaction, error) {
	pool := p.Write
	if readOnly {
		pool = p.Read
	}
	return pool.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted, ReadOnly: readOnly && p.Read == p.Write})
}

// Suspect calls Doubt.
func (p Pools) Suspect() {
	if p.Doubt != nil {
		p.Doubt()
	}
}

// TimedOut reports whether an error is that nothing came from the network for too long.
func TimedOut(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// URL is the database's URL without its password.
func (db *DB) URL() string { return db.pools.URL }

// Version is the version of the PostgreSQL server, or of the SQLite library in
// this program, such as 15.14 or 3.51.3.
func (db *DB) Version(ctx context.Context) (string, error) {
	var version string
	err := db.View(ctx, func(tx *Tx) error { return tx.First(ctx, &version, db.words.Version) })
	version, _, _ = strings.Cut(version, " ") // PostgreSQL adds the name of the distribution
	return version, err
}

// Ping checks that the database answers.
func (db *DB) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, db.options.ConnectTimeout+db.options.LockTimeout)
	defer cancel()
	return db.Classify(ctx, db.pools.Write.PingContext(ctx))
}

const (
	// farewellWithin is how long the last words of a service may take.
	farewellWithin = 2 * time.Second
	// aliveWithin is within what time a database answers that lives.
	aliveWithin = 400 * time.Millisecond
)

// Farewell is Update for the last words of a service, after the end of ctx, too. No two of them wait for a database that is
// silent.
func (db *DB) Farewell(ctx context.Context, fn func(context.Context, *Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellWithin)
	defer cancel()
	if db.health.outage.Lasts() {
		return ErrUnavailable
	}
	began := time.Now()
	asking, end := context.WithTimeout(ctx, aliveWithin)
	defer end()
	answer := make(chan error, 1)
	go func() { answer <- db.pools.Write.PingContext(asking) }()
	select {
	case err := <-answer:
		if err != nil {
			return db.health.outcome(fmt.Errorf("%w: %w", ErrUnavailable, err), false, began)
		}
	case <-asking.Done():
		return db.health.outcome(fmt.Errorf("%w: %w", ErrUnavailable, asking.Err()), false, began)
	}
	return db.Update(ctx, func(tx *Tx) error { return fn(ctx, tx) })
}

// Close closes the connections that opening made.
func (db *DB) Close() error {
	var err error
	for _, closer := range db.pools.Closers {
		err = errors.Join(err, closer())
	}
	return err
}

// Migrations are the pool in which migrations run, and the name of the system.
func (db *DB) Migrations() (pool *sql.DB, system string) {
	return db.pools.Migrate, string(db.words.System)
}

// SQL are the words in which the databases differ.
func (db *DB) SQL() *Words { return &db.words }

// Say finds out what the database said in an error.
func (db *DB) Say(err error) Said { return db.dialect.Said(err) }

// ClockSkew is how far the database's clock is ahead of the host's, as last
// measured, or a moment before if that was more exact; 0 on SQLite, which uses the
// host's. It is as exact as half the time that a query takes.
func (db *DB) ClockSkew() time.Duration { return db.health.skew() }

// dropPatience bounds the time to get at the connections that nobody uses: meanwhile others may take them, and new ones
// are made.
const dropPatience = 100 * time.Millisecond

// DropIdle closes the connections that nobody uses now: they may hang, as after a failover, and the
// next transaction makes a new one.
func (db *DB) DropIdle(ctx context.Context) {
	if db.words.IsSQLite() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, dropPatience)
	defer cancel()
	for range db.pools.Write.Stats().Idle {
		conn, err := db.pools.Write.Conn(ctx)
		if err != nil {
			return
		}
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		_ = conn.Close()
	}
}

// Watch calls wake whenever rows of these topics may have changed, until ctx
// ends. It reports failures, and retries.
func (db *DB) Watch(ctx context.Context, wake func(), report func(error), topics ...Topic) {
	changed, stop := db.local.watch(topics)
	defer stop()
	db.dialect.Watch(ctx, Watch{Topics: topics, Changed: changed, Wake: wake, Report: func(err error) {
		// The connection that watches may fail although the database works.
		if err = db.Classify(ctx, err); errors.Is(err, ErrUnavailable) && db.Ping(ctx) != nil && ctx.Err() == nil {
			err = db.health.outcome(err, false, time.Now())
		}
		report(err)
	}})
}

// Classify wraps a driver's error, of a statement of ours or of one on a bare
// transaction, with the sentinel that the dialect finds for it. It does so once,
// however often it is called. An error that the end of the context caused is reported
// as ctx.Err().
func (db *DB) Classify(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	class := db.dialect.Class(err)
	broken := errors.Is(class, ErrBusy) || errors.Is(class, ErrUnavailable) || errors.Is(err, sql.ErrTxDone)
	if end := ctx.Err(); end != nil && broken {
		class = end
	}
	if class != nil && !errors.Is(err, class) && !errors.Is(err, errCommitting) {
		return fmt.Errorf("%w: %w", class, err)
	}
	return err
}

// Held is what a type embeds that holds a database for the packages of nextrun: they get it
// with [Of], and nobody else can.
type Held struct{ db *DB }

// Hold returns what to embed.
func Hold(db *DB) Held { return Held{db} }

func (h Held) held() *DB { return h.db }

// Opened is who holds a database: a [Held], or what embeds one.
type Opened interface{ held() *DB }

// Of returns the database that somebody holds.
func Of(holder Opened) *DB { return holder.held() }
