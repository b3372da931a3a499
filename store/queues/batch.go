package queues

import (
	"encoding/json"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// column is a column of the batch that an insert reads, and its value for a job.
type column struct {
	field sqldb.Field
	value func(jobqueue.Job) any
}

// text is a column of texts; an empty one is NULL.
func text(name string, value func(jobqueue.Job) string) column {
	return column{sqldb.Text(name), func(j jobqueue.Job) any { return sqldb.Nullable(value(j)) }}
}

// number is a column of whole numbers.
func number(name string, value func(jobqueue.Job) int) column {
	return column{sqldb.Int(name), func(j jobqueue.Job) any { return value(j) }}
}

// The columns that kinds share. Join periodic_task by the tracker for the args,
// which stay inside the database.
var (
	columnJID       = text("jid", func(j jobqueue.Job) string { return j.JID })
	columnTracker   = column{sqldb.Text("tracker"), func(j jobqueue.Job) any { return j.Tracker }}
	columnTask      = column{sqldb.Text("task"), func(j jobqueue.Job) any { return j.Task }}
	columnGroup     = column{sqldb.Text("group_"), func(j jobqueue.Job) any { return j.Group }}
	columnSubject   = column{sqldb.Text("subject"), func(j jobqueue.Job) any { return j.Subject }}
	columnSubmitter = column{sqldb.Text("submitter"), func(j jobqueue.Job) any { return j.Submitter }}
	columnPriority  = number("priority", func(j jobqueue.Job) int { return j.Priority })
	columnDue       = column{sqldb.Time("due"), func(j jobqueue.Job) any { return j.Due }}
	columnSubmitted = column{sqldb.Time("submitted"), func(j jobqueue.Job) any { return j.Submitted }}
	columnSingle    = column{sqldb.Bool("single"), func(j jobqueue.Job) any { return j.Single }}
	// columnMeta is a JSON object that tells the screens of the other system where a
	// job comes from: {"nextrun": {"task", "due", "jid"}}.
	columnMeta = text("meta", meta)
)

// joinTask joins the rows of periodic_task, aliased t, with a batch, aliased v.
const joinTask = ` JOIN periodic_task AS t ON t.id = v.tracker `

// columnQueue is the other queue's queue: the configured one, or else the job's group.
func columnQueue(configured string) column {
	return column{sqldb.Text("queue"), func(j jobqueue.Job) any { return queueOf(configured, j) }}
}

func queueOf(configured string, j jobqueue.Job) string {
	if configured != "" {
		return configured
	}
	return j.Group
}

// origin says where a job comes from.
type origin struct {
	Task string `json:"task"`
	Due  string `json:"due"`
	JID  string `json:"jid"`
}

type metadata struct {
	Nextrun origin `json:"nextrun"`
}

func originOf(j jobqueue.Job) origin {
	return origin{j.Tracker, j.Due.UTC().Format(time.RFC3339Nano), j.JID}
}

func meta(j jobqueue.Job) string {
	b, err := json.Marshal(metadata{originOf(j)})
	if err != nil {
		return "{}" // it is made of texts only
	}
	return string(b)
}

// batch are jobs as records, for the first placeholder.
func batch(db *sqldb.DB, columns []column, jobs []jobqueue.Job) (sqldb.Records, error) {
	fields := make([]sqldb.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.field
	}
	values := make([]any, len(columns))
	return db.Records(1, fields, len(jobs), func(i int) []any {
		for k, c := range columns {
			values[k] = c.value(jobs[i])
		}
		return values
	})
}
