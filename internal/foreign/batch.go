package foreign

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// Column is a column of the batch that an insert reads, and its value for a job.
type Column struct {
	Field sqldb.Field
	Value func(jobqueue.Job) any
}

// TextColumn is a column of texts; an empty one is NULL.
func TextColumn(name string, value func(jobqueue.Job) string) Column {
	return Column{sqldb.Text(name), func(j jobqueue.Job) any { return sqldb.Nullable(value(j)) }}
}

// NumberColumn is a column of whole numbers.
func NumberColumn(name string, value func(jobqueue.Job) int) Column {
	return Column{sqldb.Int(name), func(j jobqueue.Job) any { return value(j) }}
}

// The columns that kinds share. Join periodic_task by the tracker for the args,
// which stay inside the database.
var (
	ColumnJID       = TextColumn("jid", func(j jobqueue.Job) string { return j.JID })
	ColumnTracker   = Column{sqldb.Text("tracker"), func(j jobqueue.Job) any { return j.Tracker }}
	ColumnTask      = Column{sqldb.Text("task"), func(j jobqueue.Job) any { return j.Task }}
	ColumnGroup     = Column{sqldb.Text("group_"), func(j jobqueue.Job) any { return j.Group }}
	ColumnSubject   = Column{sqldb.Text("subject"), func(j jobqueue.Job) any { return j.Subject }}
	ColumnSubmitter = Column{sqldb.Text("submitter"), func(j jobqueue.Job) any { return j.Submitter }}
	ColumnPriority  = NumberColumn("priority", func(j jobqueue.Job) int { return j.Priority })
	ColumnDue       = Column{sqldb.Time("due"), func(j jobqueue.Job) any { return j.Due }}
	ColumnSubmitted = Column{sqldb.Time("submitted"), func(j jobqueue.Job) any { return j.Submitted }}
	ColumnTrace     = TextColumn("traceparent", func(j jobqueue.Job) string { return j.Traceparent })
	ColumnSingle    = Column{sqldb.Bool("single"), func(j jobqueue.Job) any { return j.Single }}
	// ColumnMeta is a JSON object that tells the screens of the other system where a
	// job comes from: {"nextrun": {"task", "due", "jid"}, "traceparent"}.
	ColumnMeta = TextColumn("meta", meta)
)

// JoinTask joins the rows of periodic_task, aliased t, with a batch, aliased v.
const JoinTask = ` JOIN periodic_task AS t ON t.id = v.tracker `

// Attempts is SQL for how often a job is tried, given the configured number: one more
// than the retry_limit of its task t, and what a smallint holds at most.
func Attempts(configured int, sqlite bool) string {
	least := "least"
	if sqlite {
		least = "min"
	}
	return fmt.Sprintf("%s(coalesce(t.retry_limit + 1, %d), %d)", least, configured, math.MaxInt16)
}

// ColumnQueue is the other queue's queue: the configured one, or else the job's group.
func ColumnQueue(configured string) Column {
	return Column{sqldb.Text("queue"), func(j jobqueue.Job) any { return QueueOf(configured, j) }}
}

// QueueOf is the queue of a job, given the configured one.
func QueueOf(configured string, j jobqueue.Job) string {
	if configured != "" {
		return configured
	}
	return j.Group
}

// Origin says where a job comes from.
type Origin struct {
	Task string `json:"task"`
	Due  string `json:"due"`
	JID  string `json:"jid"`
}

type metadata struct {
	Nextrun     Origin `json:"nextrun"`
	Traceparent string `json:"traceparent,omitempty"`
}

// OriginOf says where a job comes from.
func OriginOf(j jobqueue.Job) Origin {
	return Origin{j.Tracker, j.Due.UTC().Format(time.RFC3339Nano), j.JID}
}

func meta(j jobqueue.Job) string {
	b, err := json.Marshal(metadata{OriginOf(j), j.Traceparent})
	if err != nil {
		return "{}" // it is made of texts only
	}
	return string(b)
}

// batch are jobs as records, for the first placeholder.
func batch(db *sqldb.DB, columns []Column, jobs []jobqueue.Job) (sqldb.Records, error) {
	fields := make([]sqldb.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.Field
	}
	values := make([]any, len(columns))
	return db.Records(1, fields, len(jobs), func(i int) []any {
		for k, c := range columns {
			values[k] = c.Value(jobs[i])
		}
		return values
	})
}
