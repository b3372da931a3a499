package sqldb

import (
	"database/sql"
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
