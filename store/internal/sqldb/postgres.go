package sqldb

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/nextrun/nextrun/migrations"
)

// postgres is the dialect of PostgreSQL 13 and later.
type postgres struct {
	dsn     string
	options Options
	scrub   func(error) error
}

func (db *DB) openPostgres() error {
	if err := db.settleSchema(); err != nil {
		return err
	}
	dsn := db.location.dsn(db.options)
	connector, err := pq.NewConnector(dsn)
	if err != nil {
		return err
	}
	// Migrations may take their time. They see no other schema, so that they never
	// mistake a table there for nextrun's.
	slow, err := pq.NewConnector(db.location.dsnOnly(db.options))
	if err != nil {
		return err
	}
	p := &postgres{dsn: dsn, options: db.options, scrub: db.location.scrub}
	if db.options.ListenURL != "" {
		if err := p.listenAt(db.options.ListenURL); err != nil {
			return err
		}
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
	db.dialect = p
	db.closers = []func() error{pool.Close, db.migrate.Close}
	return nil
}

// listenAt has the watchers listen at a URL.
func (p *postgres) listenAt(listenURL string) error {
	l, err := parseURL(listenURL)
	if err == nil && l.url == nil {
		err = errors.New("it must be a URL of PostgreSQL")
	}
	if err != nil {
		return fmt.Errorf("store.Options.ListenURL: %w", err)
	}
	p.dsn, p.scrub = l.dsn(p.options), l.scrub
	return nil
}

// dsnOnly is dsn without other schemas than that of the options.
func (l location) dsnOnly(options Options) string {
	u := *l.url
	query := u.Query()
	if options.Schema != "" {
		query.Del("search_path")
		query.Set("search_path", quoteSchema(options.Schema))
	}
	u.RawQuery = query.Encode()
	options.Schema = ""
	return location{url: &u}.dsn(options)
}

// dsn is the URL with the parameters that nextrun adds.
func (l location) dsn(options Options) string {
	u := *l.url
	query := u.Query()
	// Sent with the connection, so no session state is needed that a pooler
	// would break; timeouts are set in each transaction (see begin).
	if !query.Has("connect_timeout") {
		query.Set("connect_timeout", strconv.Itoa(int(max(1, options.ConnectTimeout/time.Second))))
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
	query.Del(schemaParameter)
	if options.Schema != "" {
		path := quoteSchema(options.Schema)
		if others := query.Get("search_path"); others != "" {
			path += ", " + others
		}
		query.Set("search_path", path)
	}
	u.RawQuery = query.Encode()
	return u.String()
}

func (p *postgres) words() Words {
	const now = `SELECT clock_timestamp() AT TIME ZONE 'UTC'`
	return Words{
		LockRows:  " FOR UPDATE SKIP LOCKED",
		ShareRows: " FOR SHARE",
		Greatest:  "greatest",
		Least:     "least",
		Stall:     max(p.options.IdleTimeout, p.options.StatementTimeout),
		dialect:   migrations.Postgres,
		version:   "SHOW server_version",
		columns:   `SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
		now:       now,
		begin: now + `, set_config('statement_timeout', $1, true) || set_config('lock_timeout', $2, true) ||
			set_config('idle_in_transaction_session_timeout', $3, true)`,
		asyncCommit: "SET LOCAL synchronous_commit = off",
		collate:     ` COLLATE "C"`,
		digest:      "encode(sha256(convert_to({}, 'SQL_ASCII')), 'hex')",
		tryLock:     "pg_try_advisory_xact_lock(hashtextextended(current_schema() || ' ' || {}, 0))",
		key:         "encode(convert_to({}, 'SQL_ASCII'), 'hex')",
		fromKey:     "convert_from(decode({}, 'hex'), 'SQL_ASCII')",
	}
}

func (*postgres) rebind(query string) string { return query }

func (*postgres) clock(now, at int) string {
	return fmt.Sprintf("(clock_timestamp() AT TIME ZONE 'UTC' + ($%d::timestamp - $%d::timestamp))", at, now)
}

func (p *postgres) firstRows(table, condition, order, limit string) string {
	return " CROSS JOIN LATERAL (SELECT * FROM " + table + " WHERE " + condition +
		" ORDER BY " + order + " LIMIT " + limit + p.words().LockRows + ") AS c"
}
