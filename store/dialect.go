package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/migrations"
)

// dialect is what differs between the databases. It answers questions and runs
// no logic.
type dialect interface {
	lockDialect
	keyDialect
	// name is the SQL dialect of the migrations.
	name() migrations.Dialect
	// version is a query for the version of the server, or of the library.
	version() string
	// rebind turns the placeholders $1, $2, ... into the driver's.
	rebind(query string) string
	// lockRows is appended to a SELECT whose rows will be updated, so that
	// rows locked by others are passed over.
	lockRows() string
	// records is a table expression with the given columns over the one parameter
	// $n, which encode makes of rows.
	records(n int, columns []field) string
	encode(columns []field, n int, values func(i int) []any) (string, error)
	// bytewise is a column of text that is compared byte by byte.
	bytewise(column string) string
	// greatest and least name the functions of several arguments.
	greatest() string
	least() string
	// txOptions are the options of a transaction that only reads, or may write.
	txOptions(readOnly bool) *sql.TxOptions
	// begin prepares a transaction, which waits for a locked row as long as wait
	// says where there are such locks, and returns its now.
	begin(ctx context.Context, tx *sqlx.Tx, wait time.Duration) (time.Time, error)
	// now returns the time inside a transaction that somebody else began.
	now(ctx context.Context, tx jobqueue.DBTX) (time.Time, error)
	// firstJobs joins to each row before it, as c, the first jobs of a
	// correlated condition; they are locked, and those locked by others passed
	// over.
	firstJobs(condition, order, limit string) string
	// columnsOf names the columns of a table, none if it does not exist.
	columnsOf(ctx context.Context, tx jobqueue.DBTX, table string) ([]string, error)
	// unimportant lets the commit of a transaction return before it is durable,
	// where the database can do that.
	unimportant(ctx context.Context, tx jobqueue.DBTX) error
	// class returns the sentinel error that a driver's error stands for, nil if
	// it is unknown. It is the only place that knows the driver's codes.
	class(err error) error
	// watch sends on wake whenever something that the topics stand for may have
	// changed, until ctx ends. A failure is reported and retried.
	watch(ctx context.Context, topics []topic, wake func(), report func(error))
}

// topic is a kind of change that can be watched. On PostgreSQL it is the
// channel of the notification.
type topic string

const (
	topicTasks topic = "nextrun_task"
	topicJobs  topic = "nextrun_job"
	topicLock  topic = "nextrun_lock"
)

// field is a column of a records expression.
type field struct {
	name string
	kind fieldKind
}

type fieldKind string

const (
	fieldText fieldKind = "text"
	fieldTime fieldKind = "timestamp"
	fieldInt  fieldKind = "bigint"
	fieldBool fieldKind = "boolean"
)
