package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/migrations"
)

// postgres is the dialect of PostgreSQL 13 and later.
type postgres struct {
	dsn     string
	options Options
	scrub   func(error) error
}

func (db *DB) openPostgres() error {
	u := *db.location.url
	query := u.Query()
	// Sent with the connection, so no session state is needed that a pooler
	// would break; timeouts are set in each transaction (see begin).
	if !query.Has("connect_timeout") {
		query.Set("connect_timeout", strconv.Itoa(int(max(1, db.options.ConnectTimeout/time.Second))))
	}
	if !query.Has("sslmode") && os.Getenv("PGSSLMODE") == "" {
		query.Set("sslmode", "prefer") // as psql does
	}
	if !query.Has("binary_parameters") {
		query.Set("binary_parameters", "yes") // a statement and its parameters in one round trip
	}
	if !query.Has("application_name") && !query.Has("fallback_application_name") {
		query.Set("fallback_application_name", "nextrun")
	}
	u.RawQuery = query.Encode()
	connector, err := pq.NewConnector(u.String())
	if err != nil {
		return err
	}
	// Migrations may take their time.
	slow, err := pq.NewConnector(u.String())
	if err != nil {
		return err
	}
	db.migrate = sql.OpenDB(slow)
	db.migrate.SetMaxIdleConns(1)
	connector.Dialer(&dialer{patience: db.options.StatementTimeout + answerGrace})
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(db.options.MaxConns)
	pool.SetMaxIdleConns(db.options.MaxConns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	db.write = sqlx.NewDb(pool, "postgres")
	db.read = db.write
	db.dialect = &postgres{dsn: u.String(), options: db.options, scrub: db.location.scrub}
	return nil
}

func (*postgres) name() migrations.Dialect   { return migrations.Postgres }
func (*postgres) version() string            { return "SHOW server_version" }
func (*postgres) rebind(query string) string { return query }
func (*postgres) lockRows() string           { return " FOR UPDATE SKIP LOCKED" }
func (*postgres) bytewise(col string) string { return col + ` COLLATE "C"` }
func (*postgres) greatest() string           { return "greatest" }
func (*postgres) least() string              { return "least" }

// txOptions ask for READ COMMITTED whatever default_transaction_isolation says:
// at a higher level rows that others have changed meanwhile fail a claim instead
// of being passed over.
func (*postgres) txOptions(readOnly bool) *sql.TxOptions {
	return &sql.TxOptions{Isolation: sql.LevelReadCommitted, ReadOnly: readOnly}
}

func (p *postgres) begin(ctx context.Context, tx *sqlx.Tx, wait time.Duration) (time.Time, error) {
	millis := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	var now time.Time
	var ignored string
	err := tx.QueryRowContext(ctx, `SELECT clock_timestamp() AT TIME ZONE 'UTC',
			set_config('statement_timeout', $1, true) || set_config('lock_timeout', $2, true) ||
			set_config('idle_in_transaction_session_timeout', $3, true)`,
		millis(p.options.StatementTimeout), millis(wait), millis(p.options.IdleTimeout),
	).Scan(&now, &ignored)
	return now, err
}

func (*postgres) now(ctx context.Context, tx jobqueue.DBTX) (time.Time, error) {
	var now time.Time
	err := tx.QueryRowContext(ctx, `SELECT clock_timestamp() AT TIME ZONE 'UTC'`).Scan(&now)
	return now, err
}

func (p *postgres) firstJobs(condition, order, limit string) string {
	return " CROSS JOIN LATERAL (SELECT * FROM job WHERE " + condition +
		" ORDER BY " + order + " LIMIT " + limit + p.lockRows() + ") AS c"
}

func (*postgres) columnsOf(ctx context.Context, tx jobqueue.DBTX, table string) ([]string, error) {
	return scanTexts(tx.QueryContext(ctx, `SELECT attname FROM pg_attribute
		WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`, table))
}

func (*postgres) unimportant(ctx context.Context, tx jobqueue.DBTX) error {
	_, err := tx.ExecContext(ctx, "SET LOCAL synchronous_commit = off")
	return err
}

// class maps SQLSTATE codes; see PostgreSQL's appendix A, "Error Codes".
func (*postgres) class(err error) error {
	var pqErr *pq.Error
	if errors.As(err, &pqErr) {
		return sqlStateClass(string(pqErr.Code))
	}
	var netErr net.Error
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, sql.ErrConnDone) || errors.As(err, &netErr) {
		return ErrUnavailable
	}
	return nil
}

// sqlStates are the codes with a class of their own, and the classes of codes by
// the first two characters.
var sqlStates = map[string]error{
	"23505": ErrDuplicate,
	"22":    ErrRefused,                                              // data exceptions
	"23":    ErrRefused,                                              // constraints
	"44000": ErrRefused,                                              // WITH CHECK OPTION of a view
	"54000": ErrRefused,                                              // too large for an index
	"54001": ErrRefused,                                              // nested too deeply
	"P0":    ErrRefused,                                              // a trigger raised it
	"42P01": ErrNoSchema, "42703": ErrNoSchema, "42883": ErrNoSchema, // no such table, column, function
	"55P03": ErrContended, "57014": ErrContended, // lock and statement timeout
	"40001": ErrBusy, "40P01": ErrBusy, // serialization, deadlock
	"08": ErrUnavailable, "53": ErrUnavailable, "58": ErrUnavailable, // connection, resources, system
	"57P01": ErrUnavailable, "57P02": ErrUnavailable, "57P03": ErrUnavailable, // shutdown, crash, start
	"57P05": ErrUnavailable, "25P03": ErrUnavailable, "25P04": ErrUnavailable, // the server ended the session
	"25006": ErrUnavailable, // a standby
}

func sqlStateClass(code string) error {
	if class, ok := sqlStates[code]; ok || len(code) < 2 {
		return class
	}
	return sqlStates[code[:2]]
}

// watch listens on a connection of its own. pq's listener reconnects by itself;
// what happened meanwhile is unknown, so each reconnect wakes too.
func (p *postgres) watch(ctx context.Context, topics []topic, wake func(), report func(error)) {
	if p.options.PollOnly {
		<-ctx.Done()
		return
	}
	listener := pq.NewListener(p.dsn, 100*time.Millisecond, 10*time.Second, func(_ pq.ListenerEventType, err error) {
		if err != nil {
			report(fmt.Errorf("listen for changes: %w", p.scrub(err)))
		}
	})
	defer listener.Close() //nolint:errcheck // nothing is lost with it
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	for _, t := range topics {
		// Listen waits for the first connection; it fails only when closed, or
		// when the server refuses, which polling then makes up for.
		if err := listener.Listen(string(t)); err != nil && ctx.Err() == nil {
			report(fmt.Errorf("listen for changes on %s: %w", t, p.scrub(err)))
		}
	}
	wake()
	ping := time.NewTicker(30 * time.Second)
	defer ping.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-listener.Notify:
			if !ok {
				return
			}
			wake() // a nil notification tells of a new connection
		case <-ping.C:
			go listener.Ping() //nolint:errcheck // finds a dead connection; the listener reports and reconnects
		}
	}
}
