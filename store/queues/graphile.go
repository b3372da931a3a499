package queues

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// GraphileWorker is a queue of Graphile Worker (Node.js), release 0.16 or newer, in
// the PostgreSQL database of nextrun.
//
// A job's task is the identifier of the Graphile task, its args are the payload, and
// its due is run_at. Graphile serves low numbers first, so a priority becomes its
// negative. The key of a job, nextrun:TASK:DUE:JID, says where it comes from. Do not
// add jobs with such keys yourself.
type GraphileWorker struct {
	// Schema holds Graphile Worker's tables; empty: graphile_worker.
	Schema string
	// Queue is the named queue of all jobs, up to 128 characters. Graphile Worker
	// runs the jobs of a named queue one at a time, also those of different tasks.
	// Empty: no named queue, so that jobs run in parallel.
	Queue string
	// MaxAttempts is how often Graphile Worker tries a job of a task without
	// retry_limit; 0: 25, its own default.
	MaxAttempts int
	// Gone is how a job ended that is not in the tables any more: success, failed or
	// unknown. Graphile Worker deletes jobs when they have succeeded, or are removed, and
	// keeps those that failed. Empty: success.
	Gone string
}

// graphileSchema is Graphile Worker's own default.
const graphileSchema = "graphile_worker"

// graphileNameLength is the greatest length of identifiers and named queues.
const graphileNameLength = 128

func (k GraphileWorker) kind() foreign.Kind { return graphileWorker(k) }

type graphileWorker GraphileWorker

// Validate implements [foreign.Kind].
func (k graphileWorker) Validate() error {
	p := &service.Check{Config: "queues.GraphileWorker"}
	foreign.CheckIdentifier(p, "Schema", k.Schema)
	foreign.CheckName(p, "Queue", k.Queue, graphileNameLength)
	foreign.CheckAttempts(p, "MaxAttempts", k.MaxAttempts)
	foreign.CheckGone(p, k.Gone)
	return p.Err()
}

// Open implements [foreign.Kind].
func (k graphileWorker) Open(db *sqldb.DB) (foreign.Queue, error) {
	if k.Schema == "" {
		k.Schema = graphileSchema
	}
	if k.MaxAttempts == 0 {
		k.MaxAttempts = 25 // its own default
	}
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if db.SQL().IsSQLite() {
		return nil, errors.New("graphile-worker: the database is SQLite; Graphile Worker has its tables in PostgreSQL")
	}
	return foreign.New(db, foreign.Spec{Kind: "graphile-worker", Check: k.check, Detect: k.detect, Cancels: true, Retries: true, Tells: true, Gone: foreign.GoneState(k.Gone, "success"),
		Heeds: []string{"retry_limit", "priority"}}), nil
}

func (graphileWorker) check(j jobqueue.Job) string {
	switch {
	case j.Task == "":
		return "task is empty; Graphile Worker needs the identifier of a task there"
	case utf8.RuneCountInString(j.Task) > graphileNameLength:
		return fmt.Sprintf("task is longer than the %d characters that Graphile Worker's identifiers can have", graphileNameLength)
	}
	return foreign.CheckPriority(j)
}

// graphileKey is the key of a job, which may have 512 characters; ids of tasks have 254
// at most. Two jobs never have the same key: add_jobs would change the one that is
// there and, if it is running, take its retries away.
func graphileKey(j jobqueue.Job) string {
	return "nextrun:" + j.Tracker + j.Due.UTC().Format(":2006-01-02T15:04:05.000000Z:") + j.JID
}

func (k graphileWorker) columns() []foreign.Column {
	return []foreign.Column{
		foreign.ColumnJID, foreign.ColumnTracker, foreign.ColumnTask, foreign.ColumnDue, foreign.TextColumn("key", graphileKey),
		foreign.TextColumn("queue_name", func(jobqueue.Job) string { return k.Queue }),
		foreign.NumberColumn("priority", func(j jobqueue.Job) int { return -j.Priority }),
	}
}
