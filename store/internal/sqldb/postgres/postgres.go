package postgres

import (
	"database/sql"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// dialect implements [sqldb.Dialect].
type dialect struct {
	options sqldb.Options
	dsn     string // at which watchers listen; empty: they do not
	scrub   func(error) error
	pool    *sql.DB
	shown   shown
}

const lockRows = " FOR UPDATE SKIP LOCKED"

// Words implements [sqldb.Dialect].
func (d *dialect) Words() sqldb.Words {
	const now = `SELECT clock_timestamp() AT TIME ZONE 'UTC'`
	return sqldb.Words{
		LockRows:  lockRows,
		ShareRows: " FOR SHARE",
		Greatest:  "greatest",
		Least:     "least",
		Stall:     max(d.options.IdleTimeout, d.options.StatementTimeout),
		Dialect:   migrations.Postgres,

		EndedGrace: endedGrace,
		Version:    "SHOW server_version",
		Columns:    `SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
		Now:        now,
		// All statements are short. Where the planner expects many more rows than there are,
		// compiling one would take seconds.
		Begin: now + `, set_config('statement_timeout', $1, true) || set_config('lock_timeout', $2, true) ||
			set_config('idle_in_transaction_session_timeout', $3, true) || set_config('jit', 'off', true)`,
		AsyncCommit: "SET LOCAL synchronous_commit = off",
		Collate:     ` COLLATE "C"`,
		DigestSQL:   "encode(sha256(convert_to({}, 'SQL_ASCII')), 'hex')",
		TryLockSQL:  "pg_try_advisory_xact_lock(hashtextextended(current_schema() || ' ' || {}, 0))",
		Placeholder: "$",
		ClockSQL:    "(clock_timestamp() AT TIME ZONE 'UTC' + ({at}::timestamp - {now}::timestamp))",
		KeySQL:      "encode(convert_to({}, 'SQL_ASCII'), 'hex')",
		FromKeySQL:  "convert_from(decode({}, 'hex'), 'SQL_ASCII')",
	}
}

// FirstRows implements [sqldb.Dialect].
func (*dialect) FirstRows(table, condition, order, limit string) string {
	return " CROSS JOIN LATERAL (SELECT * FROM " + table + " WHERE " + condition +
		" ORDER BY " + order + " LIMIT " + limit + lockRows + ") AS c"
}
