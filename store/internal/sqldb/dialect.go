package sqldb

import (
	"context"
	"strings"
	"time"

	"github.com/nextrun/nextrun/migrations"
)

// dialect is where the databases differ. It answers questions and runs no logic.
type dialect interface {
	// words are the differences that are plain text.
	words() Words
	// rebind turns the placeholders $1, $2, ... into the driver's.
	rebind(query string) string
	// clock is SQL for the current time plus ($at - $now), where now and at number
	// two parameters and $now is the transaction's now. PostgreSQL reads its clock
	// when it evaluates the expression: after the wait for a row, not before. On
	// SQLite nobody else can write meanwhile, so $at is good enough.
	clock(now, at int) string
	// table is a table expression with these columns that unpacks parameter $n;
	// encode packs rows into that parameter.
	table(n int, columns []Field) string
	encode(columns []Field, n int, values func(i int) []any) (string, error)
	// firstRows is a join, aliased c, of the rows before it with the first rows of
	// a table that meet a correlated condition. It locks them, and passes over
	// those that others have locked.
	firstRows(table, condition, order, limit string) string
	// class returns the sentinel error for a driver's error, nil if it is unknown.
	// Only class knows the driver's codes.
	class(err error) error
	// watch calls wake whenever rows of these topics may have changed, until ctx
	// ends. It reports failures, and retries.
	watch(ctx context.Context, topics []Topic, wake func(), report func(error))
}

// Words are the differences between the databases that are plain text.
type Words struct {
	// LockRows is appended to a SELECT whose rows will be updated: rows that
	// others have locked are passed over. It is empty where a transaction holds
	// the whole file.
	LockRows string
	// ShareRows is appended to a SELECT whose rows nobody else may change until the
	// transaction ends. After a plain read they could change before its commit.
	ShareRows string
	// Greatest and Least name the functions of several arguments.
	Greatest, Least string
	// Stall is how long a transaction of a process that was stopped can last; 0
	// if nothing ends it.
	Stall time.Duration

	dialect migrations.Dialect
	version string // query for the version of the server, or of the library
	columns string // query for the names of the columns of the table $1
	// now is a query for the time, and begin one that also sets the timeouts of a
	// transaction: $1 of a statement, $2 for locks, $3 when idle, in milliseconds.
	// They are empty where the host's clock counts and there are no timeouts.
	now, begin string
	// asyncCommit makes the commit of a transaction return before it is durable;
	// empty if the database cannot do that.
	asyncCommit string
	collate     string // behind a text that is compared byte by byte
	// digest turns the text {} into one that differs when {} does, and is short
	// where the database can make such a text.
	digest string
	// tryLock locks the name {} until the transaction ends, and says whether it could;
	// empty where a transaction holds the whole file.
	tryLock string
	// key and fromKey turn the text {} into hexadecimal and back.
	key, fromKey string
}

// Key is a text as hexadecimal, which can be read and written whatever bytes the
// text holds: in a PostgreSQL database of the encoding SQL_ASCII it need not be
// valid.
func (w Words) Key(text string) string { return strings.ReplaceAll(w.key, "{}", text) }

// TryLock is a condition that locks a name until the transaction ends, unless another
// transaction has it. It is empty where transactions exclude each other anyway.
func (w Words) TryLock(name string) string { return strings.ReplaceAll(w.tryLock, "{}", name) }

// Digest is a text that differs when the given one does.
func (w Words) Digest(text string) string { return strings.ReplaceAll(w.digest, "{}", text) }

// FromKey is the text of which Key made a key.
func (w Words) FromKey(key string) string { return strings.ReplaceAll(w.fromKey, "{}", key) }

// Bytewise is a column of text that is compared byte by byte.
func (w Words) Bytewise(column string) string { return column + w.collate }

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

// PendingStates are the states of jobs that are not final, as a list for IN. The
// partial indexes over jobs are written with the same list, in the same order.
const PendingStates = "('waiting', 'scheduled', 'running', 'stuck')"
