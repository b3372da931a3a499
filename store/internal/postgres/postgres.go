// Package postgres is what package sqldb needs of PostgreSQL, whichever driver there is: its SQL, errors,
// and notifications. Package store/postgres opens it with lib/pq, store/pgxstore with pgx.
package postgres

import "github.com/nextrun/nextrun/internal/sqldb"

// dialect implements [sqldb.Dialect].
type dialect struct {
	options sqldb.Options
	server  Server
}

const lockRows = " FOR UPDATE SKIP LOCKED"

// Words implements [sqldb.Dialect].
func (d *dialect) Words() sqldb.Words {
	const now = `SELECT clock_timestamp() AT TIME ZONE 'UTC'`
	return sqldb.Words{
		ForUpdate:      lockRows,
		ForNoKeyUpdate: " FOR NO KEY UPDATE OF t SKIP LOCKED",
		ShareRows:      " FOR SHARE",
		Greatest:       "greatest",
		Least:          "least",
		Stall:          max(d.options.IdleTimeout, d.options.StatementTimeout),
		System:         sqldb.Postgres,

		Version: "SHOW server_version",
		Columns: `SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
		Now:     now,
		// All statements are short. Where the planner expects many more rows than there are,
		// compiling one would take seconds.
		Begin: now + `, set_config('statement_timeout', $1, true) || set_config('lock_timeout', $2, true) ||
			set_config('idle_in_transaction_session_timeout', $3, true) || set_config('jit', 'off', true) ||
			set_config('array_nulls', 'on', true)`,
		AsyncCommit: "SET LOCAL synchronous_commit = off",
		Generic:     " || set_config('plan_cache_mode', 'force_generic_plan', true)",
		Collate:     ` COLLATE "C"`,
		TryLockSQL:  "pg_try_advisory_xact_lock(hashtextextended(current_schema() || ' ' || {}, 0))",
		LockSQL:     "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || $1, 0))",
		Placeholder: "$",
	}
}

// FirstRows implements [sqldb.Dialect]. It orders by all columns of the index: by the last ones
// alone, the planner may rather read all that meet the condition.
func (*dialect) FirstRows(table, condition, alike, order, limit string) string {
	return " CROSS JOIN LATERAL (SELECT * FROM " + table + " WHERE " + condition +
		" ORDER BY " + alike + ", " + order + " LIMIT " + limit + lockRows + ") AS c"
}
