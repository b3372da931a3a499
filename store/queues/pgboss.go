package queues

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// PgBoss is the queue of pg-boss (https://timgit.github.io/pg-boss) in PostgreSQL, at
// schema 37 (pg-boss 12.26) or newer. A task's task is the name of a queue, which must
// exist, and args are the data. The job has the id that nextrun gave it. It takes
// the policy and the retention from its queue, and so the retries and the expiry, unless
// the task has a retry_limit, a retry_delay or a timeout.
//
// In a queue whose policy is standard or key_strict_fifo, the task's id is the job's
// singleton_key. A group_ other than default becomes its group_id.
type PgBoss struct {
	// Schema holds pg-boss's tables; empty: pgboss.
	Schema string
	// Queue is the queue of all tasks; empty: each task's task.
	Queue string
	// PerTask applies policies such as short and exclusive to the jobs of each task
	// alone, not to the whole queue: the task's id is the singleton_key in every queue.
	PerTask bool
	// Gone is how a job ended that is not in the table any more: success, failed or unknown.
	// pg-boss deletes jobs a week after their end, unless a queue says otherwise.
	// Empty: unknown.
	Gone string
}

// pgBossSchema is pg-boss's own default.
const pgBossSchema = "pgboss"

func (k PgBoss) kind() foreign.Kind { return pgBoss(k) }

type pgBoss PgBoss

// Validate implements [foreign.Kind].
func (k pgBoss) Validate() error {
	p := &service.Check{Config: "queues.PgBoss"}
	foreign.CheckIdentifier(p, "Schema", k.Schema)
	foreign.CheckGone(p, k.Gone)
	return p.Err()
}

// Open implements [foreign.Kind].
func (k pgBoss) Open(db *sqldb.DB) (foreign.Queue, error) {
	if k.Schema == "" {
		k.Schema = pgBossSchema
	}
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if db.SQL().IsSQLite() {
		return nil, errors.New("pg-boss: the database is SQLite; pg-boss has its tables in PostgreSQL")
	}
	return foreign.New(db, foreign.Spec{Kind: "pg-boss", Check: k.check, Detect: k.detect, Cancels: true, Retries: true, Tells: true, Gone: foreign.GoneState(k.Gone, "unknown"),
		Heeds: []string{"retry_limit", "retry_delay", "timeout", "priority"}}), nil
}

// uuid is the form of a job's id. A reference is the queue and that id.
var (
	uuid      = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	pgBossRef = regexp.MustCompile(`(?s)^.*/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

func (k pgBoss) check(j jobqueue.Job) string {
	switch {
	case k.queueOf(j) == "":
		return "task is empty; pg-boss needs the name of a queue there"
	case !uuid.MatchString(j.JID):
		return fmt.Sprintf("the id %q is not a UUID, as ids of pg-boss are", j.JID)
	}
	return foreign.CheckPriority(j)
}

func (k pgBoss) queueOf(j jobqueue.Job) string {
	if k.Queue != "" {
		return k.Queue
	}
	return j.Task
}

func (k pgBoss) columns() []foreign.Column {
	return []foreign.Column{
		foreign.ColumnJID, foreign.ColumnTracker, foreign.ColumnGroup, foreign.ColumnDue, foreign.ColumnPriority,
		foreign.TextColumn("queue", k.queueOf),
	}
}
