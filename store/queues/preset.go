package queues

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// preset is what nextrun knows of a kind of queue: SQL texts, and how a job becomes a row
// for them. In a statement, {batch} stands for a set of rows in FROM; give it an alias.
// Placeholders begin at $2, since the rows are $1. On SQLite a statement must hold no
// other $.
type preset struct {
	kind   string                    // as in the configuration file
	heeds  []string                  // see [Heeds]
	check  func(jobqueue.Job) string // why the queue cannot take a job; empty: it can
	gone   sink.EndState             // how a job ended that the tables do not have any more
	remedy string                    // for tables that do not fit

	columns []column // of the batch that insert reads
	// insert adds the jobs of the batch. It returns the columns jid and ref of those that
	// the queue has taken; ref is its own name for the job, or else the jid. If it returns
	// no columns at all, it has taken all jobs. It may also return refused, a reason, and
	// passing.
	insert statement
	// probe, if there is one, fails over no rows if the queue takes no jobs, where insert
	// does nothing over no rows.
	probe statement
	// mapped, if there is one, reads a column ref with what insert returned, which need
	// not return a jid then, and returns jid and ref.
	mapped statement
	// absent says why the queue has not taken a job that insert did not return, and
	// passing whether that may pass.
	absent  string
	passing bool
	// notify reads rows with one column, queue: the distinct queues of the jobs taken. It
	// wakes the workers once the transaction is committed.
	notify  statement
	queueOf func(jobqueue.Job) string

	// The other statements read rows with the columns of openFields.

	// pending returns the column ref, or jid, of those jobs that are not final. It may
	// also return state, one of jobqueue's, and started, a time in UTC. It takes no locks.
	pending statement
	// ends returns ref or jid, and outcome, or NULL for a job that has not ended. It may
	// also return finished, a time in UTC, attempts and error. It takes no locks.
	ends statement
	// cancel, $2 is the time, cancels the jobs that no worker has begun, passes over
	// locked ones, and returns those it cancelled.
	cancel statement
	// retry, $2 is when a job ended, puts those back that failed or were cancelled then,
	// and returns the column ref. The rows have no ref.
	retry statement

	// ref is the form of a reference. Others, left from another kind of queue, are final.
	ref *regexp.Regexp
}

// statement is a statement of a preset. What a user wrote follows behind, as it is: on
// SQLite a $ in it is no placeholder.
type statement struct{ text, user string }

func own(text string) statement { return statement{text: text} }

func (s statement) empty() bool { return s.text == "" && s.user == "" }

// number is the form of references that are numbers.
var number = regexp.MustCompile(`^[0-9]{1,18}$`)

// column is a column of the batch that an insert reads, and its value for a job.
type column struct {
	field sqldb.Field
	value func(jobqueue.Job) any
}

// textColumn is a column of texts; an empty one is NULL.
func textColumn(name string, value func(jobqueue.Job) string) column {
	return column{sqldb.Text(name), func(j jobqueue.Job) any { return sqldb.Nullable(value(j)) }}
}

func intColumn(name string, value func(jobqueue.Job) int) column {
	return column{sqldb.Int(name), func(j jobqueue.Job) any { return value(j) }}
}

// The columns that kinds share. Join periodic_task by the tracker for the args, which stay
// inside the database.
var (
	columnJID       = textColumn("jid", func(j jobqueue.Job) string { return j.JID })
	columnTracker   = column{sqldb.Text("tracker"), func(j jobqueue.Job) any { return j.Tracker }}
	columnTask      = column{sqldb.Text("task"), func(j jobqueue.Job) any { return j.Task }}
	columnGroup     = column{sqldb.Text("group_"), func(j jobqueue.Job) any { return j.Group }}
	columnSubject   = column{sqldb.Text("subject"), func(j jobqueue.Job) any { return j.Subject }}
	columnSubmitter = column{sqldb.Text("submitter"), func(j jobqueue.Job) any { return j.Submitter }}
	columnPriority  = intColumn("priority", func(j jobqueue.Job) int { return j.Priority })
	columnDue       = column{sqldb.Time("due"), func(j jobqueue.Job) any { return j.Due }}
	columnSubmitted = column{sqldb.Time("submitted"), func(j jobqueue.Job) any { return j.Submitted }}
	columnTrace     = textColumn("traceparent", func(j jobqueue.Job) string { return j.Traceparent })
	columnSingle    = column{sqldb.Bool("single"), func(j jobqueue.Job) any { return j.Single }}
	// columnMeta is a JSON object that tells the screens of the other system where a job
	// comes from: {"nextrun": {"task", "due", "jid"}, "traceparent"}.
	columnMeta = textColumn("meta", func(j jobqueue.Job) string { return origin(j, map[string]any{}) })
)

// joinTask joins the rows of periodic_task, aliased t, with a batch, aliased v.
const joinTask = ` JOIN periodic_task AS t ON t.id = v.tracker `

// attempts is SQL for how often a job is tried, given the configured number: one more than
// the retry_limit of its task t, and what a smallint holds at most.
func attempts(configured int, least string) string {
	return fmt.Sprintf("%s(coalesce(t.retry_limit + 1, %d), %d)", least, configured, math.MaxInt16)
}

// queueOf is the queue of a job, given the configured one.
func queueOf(configured string) func(jobqueue.Job) string {
	return func(j jobqueue.Job) string {
		if configured != "" {
			return configured
		}
		return j.Group
	}
}

// origin adds to an object of JSON where a job comes from.
func origin(j jobqueue.Job, object map[string]any) string {
	object["nextrun"] = map[string]string{"task": j.Tracker, "due": j.Due.UTC().Format(time.RFC3339Nano), "jid": j.JID}
	if j.Traceparent != "" {
		object["traceparent"] = j.Traceparent
	}
	b, err := json.Marshal(object)
	if err != nil {
		return "{}" // it is made of texts only
	}
	return string(b)
}

// batch are jobs as records, for the first placeholder.
func (q *queue) batch(jobs []jobqueue.Job) sqldb.Records {
	columns := q.preset.columns
	fields := make([]sqldb.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.field
	}
	values := make([]any, len(columns))
	return q.db.Records(1, fields, len(jobs), func(i int) []any {
		for k, c := range columns {
			values[k] = c.value(jobs[i])
		}
		return values
	})
}
