package store

import (
	"fmt"
	"time"
)

// lockDialect is what differs between the databases for locks.
type lockDialect interface {
	// clock is the current time as SQL, moved by the difference of the parameter
	// $at to the parameter $now, which is the transaction's now. PostgreSQL reads
	// its clock when the expression is evaluated: after the wait for a row, not
	// before. On SQLite nobody else can write meanwhile, and $at is good enough.
	clock(now, at int) string
	// shareRows is appended to a SELECT whose rows must not be changed by others
	// until the transaction ends.
	shareRows() string
	// stall is how long a transaction of a process that was stopped can last; 0
	// if nothing ends it.
	stall() time.Duration
}

func (*postgres) clock(now, at int) string {
	return fmt.Sprintf("(clock_timestamp() AT TIME ZONE 'UTC' + ($%d::timestamp - $%d::timestamp))", at, now)
}

func (*sqlite) clock(_, at int) string { return fmt.Sprintf("$%d", at) }

// shareRows: a plain read would let a transaction commit after somebody else
// has changed the row.
func (*postgres) shareRows() string { return " FOR SHARE" }

// shareRows is nothing: a write transaction holds the whole file.
func (*sqlite) shareRows() string { return "" }

func (p *postgres) stall() time.Duration {
	return max(p.options.IdleTimeout, p.options.StatementTimeout)
}

// stall is unknown: SQLite has no timeout for a transaction.
func (*sqlite) stall() time.Duration { return 0 }
