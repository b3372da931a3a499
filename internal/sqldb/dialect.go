package sqldb

import "context"

// Dialect is where the databases differ. It answers questions and runs no logic. The
// packages postgres and sqlite implement it.
type Dialect interface {
	// Words are the differences that are plain text.
	Words() Words
	// Table is a table expression with these columns that unpacks parameter $n;
	// Encode packs rows into that parameter.
	Table(n int, columns []Field) string
	Encode(columns []Field, n int, values func(i int) []any) (string, error)
	// FirstRows is a join, aliased c, of the rows before it with the first rows of
	// a table that meet a correlated condition, in which the columns alike have one value, and
	// stand before those of order in an index. It locks them, and passes over those that others
	// have locked.
	FirstRows(table, condition, alike, order, limit string) string
	// Class returns the sentinel error for a driver's error, nil if it is unknown.
	// Only Class knows the driver's codes.
	Class(err error) error
	// Said is what the database itself said in an error.
	Said(err error) Said
	// Watch does what w says until ctx ends. It reports failures, and retries.
	Watch(ctx context.Context, w Watch)
}

// Watch is what a watcher wants.
type Watch struct {
	Topics []Topic
	Wake   func() // called whenever rows of the topics may have changed
	// Changed hears of what this process changes, for a dialect to which the database does
	// not tell it.
	Changed <-chan struct{}
	Report  func(error) // called with failures
}

// Said is what the database itself said in an error, without what this module and
// the driver put around it.
type Said struct {
	Code    string // SQLSTATE; empty on SQLite
	Message string // empty if the error is not the database's
	Detail  string // more about it; may be empty
	Where   string // the trigger or row at which it happened; empty: none
}

// Topic is a kind of change that can be watched. On PostgreSQL it is the channel
// of the notification.
type Topic string

// The topics.
const (
	TopicTasks  Topic = "nextrun_task"
	TopicJobs   Topic = "nextrun_job"
	TopicLock   Topic = "nextrun_lock"
	TopicEvents Topic = "nextrun_event"
)

// SchemaMark is the comment of a schema of PostgreSQL that nextrun has created. `nextrun migrate down` removes a
// schema with it, once it is empty.
const SchemaMark = "created by nextrun migrate up"

// MigrationLock is the key of the advisory lock under which PostgreSQL migrates.
const MigrationLock int64 = 0x6e65787472756e // "nextrun"
