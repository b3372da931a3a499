package sqldb

import (
	"strings"
	"time"
)

// System is the name of a database system, as package migrations has it.
type System string

// The systems.
const (
	Postgres System = "postgres"
	SQLite   System = "sqlite"
)

// Words are the differences between the databases that are plain text.
type Words struct {
	// ForUpdate is appended to a SELECT whose rows will be updated: rows that
	// others have locked are passed over. It is empty where a transaction holds
	// the whole file.
	ForUpdate string
	// ForNoKeyUpdate is the same for rows of a table t whose keys stay as they are, so that foreign keys
	// of others may go on to refer to them.
	ForNoKeyUpdate string
	// ShareRows is appended to a SELECT whose rows nobody else may change until the
	// transaction ends. After a plain read they could change before its commit.
	ShareRows string
	// Greatest and Least name the functions of several arguments.
	Greatest, Least string
	// Stall is how long a transaction of a process that was stopped can last; 0
	// if nothing ends it.
	Stall time.Duration

	System  System
	Version string // query for the version of the server, or of the library
	Columns string // query for the names of the columns of the table $1
	// Now is a query for the time, and Begin one that also sets the timeouts of a
	// transaction: $1 of a statement, $2 for locks, $3 when idle, in milliseconds.
	// They are empty where the host's clock counts and there are no timeouts.
	Now, Begin string
	// AsyncCommit makes the commit of a transaction return before it is durable;
	// empty if the database cannot do that.
	AsyncCommit string
	// Generic follows Begin where the statements of a transaction are planned once for all parameters; empty if the
	// database cannot do that.
	Generic string

	// The patterns of the methods. {} stands for the argument.

	Placeholder string // in front of the number of a parameter, in place of $
	Collate     string // behind a text that is compared byte by byte
	TryLockSQL  string // empty where a transaction holds the whole file
	LockSQL     string // a statement that waits for the name $1; empty where a transaction holds the whole file
}

// Rebind turns the placeholders $1, $2, ... into the driver's. No statement of this
// module has a $ elsewhere.
func (w *Words) Rebind(query string) string {
	if w.Placeholder == "$" {
		return query
	}
	return strings.ReplaceAll(query, "$", w.Placeholder)
}

// IsSQLite reports whether the database is a SQLite file.
func (w *Words) IsSQLite() bool { return w.System == SQLite }

// TryLock is a condition that locks a name until the transaction ends, unless another
// transaction has it. It is empty where transactions exclude each other anyway.
func (w *Words) TryLock(name string) string { return strings.ReplaceAll(w.TryLockSQL, "{}", name) }

// Bytewise is a column of text that is compared byte by byte.
func (w *Words) Bytewise(column string) string { return column + w.Collate }
