package queues

import (
	"context"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// SQL is any queue in tables of the same database, by statements of yours. They
// run in the scheduler's transaction, each once for a whole batch, and are refused
// unless the database can plan them. The database does not check what they do.
//
// Each reads a relation that stands in front of it as a common table expression:
//
//	nextrun_batch (jid, task_id, due, task, group_, args, subject, submitter, submitted, priority, single, traceparent)
//	nextrun_open (ref, jid, task_id, due, submitted), in Cancel also now
//	nextrun_queues (queue): the distinct group_ of the jobs added
//
// Times are UTC without zone, args are a text, priority is 0 to 10, 10 first, and single says that
// the job must not overlap with another of its task. traceparent is that of who submitted
// the job, or NULL. If Enqueue names retry_limit, retry_delay or timeout, nextrun_batch has
// them, too: what the task says, in seconds, or NULL.
type SQL struct {
	// Enqueue adds the jobs of nextrun_batch. It returns, in any order, the jid of each
	// job added, and its ref, by which Pending and Cancel find it; without a column
	// ref that is the jid. For jobs that it does not add it can return the columns
	// refused, the reason, and passing, whether to try again later. A statement that
	// returns no columns adds all jobs.
	Enqueue string
	// Pending returns the ref, or the jid, of those jobs of nextrun_open that are not
	// final. It takes no locks. On SQLite write nextrun_open CROSS JOIN your table, so
	// that it finds the rows of these jobs only. It can also return state (waiting, running or stuck) and
	// started, a time in UTC.
	Pending string
	// Cancel cancels those jobs of nextrun_open that no worker has begun, and returns
	// their ref or jid. Pass over locked rows. Empty: jobs are not cancelled, so that
	// the policy replace waits like queue.
	Cancel string
	// Outcome returns, for those jobs of nextrun_open that are in the table, the ref or the jid,
	// and outcome: success, failed, cancelled, or NULL for a job that has not ended. It can
	// also return finished, a time in UTC, attempts and error. It only reads, and has ten
	// seconds. Empty: nobody can tell how jobs end.
	Outcome string
	// Gone is how a job ended that Outcome does not return: success, failed or unknown.
	// Empty: unknown.
	Gone string
	// Notify wakes the workers, such as SELECT pg_notify('jobs', queue) FROM
	// nextrun_queues. Empty: they find the jobs by themselves.
	Notify string
}

func (k SQL) kind() foreign.Kind { return sqlQueue(k) }

type sqlQueue SQL

// Validate implements [foreign.Kind].
func (k sqlQueue) Validate() error {
	p := &service.Check{Config: "queues.SQL"}
	p.Field(reads(k.Enqueue, "nextrun_batch"), "Enqueue", fmt.Sprintf("%q", k.Enqueue), "a statement that adds the jobs of nextrun_batch")
	p.Field(reads(k.Pending, "nextrun_open"), "Pending", fmt.Sprintf("%q", k.Pending), "a statement that looks for the jobs of nextrun_open")
	p.Field(k.Cancel == "" || reads(k.Cancel, "nextrun_open"), "Cancel", fmt.Sprintf("%q", k.Cancel),
		"a statement that cancels jobs of nextrun_open, or nothing")
	p.Field(k.Outcome == "" || reads(k.Outcome, "nextrun_open"), "Outcome", fmt.Sprintf("%q", k.Outcome),
		"a statement that tells how the jobs of nextrun_open ended, or nothing")
	foreign.CheckGone(p, k.Gone)
	p.Field(k.Gone == "" || k.Outcome != "", "Gone", fmt.Sprintf("%q", k.Gone), "nothing without Outcome, which tells what is gone")
	return p.Err()
}

func reads(statement, relation string) bool {
	return strings.Contains(strings.ToLower(statement), relation)
}

// Open implements [foreign.Kind].
func (k sqlQueue) Open(db *sqldb.DB) (foreign.Queue, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	return foreign.New(db, foreign.Spec{Kind: "sql", Detect: k.detect, Cancels: k.Cancel != "",
		Tells: k.Outcome != "", Gone: foreign.GoneState(k.Gone, "unknown"), Rehearse: true, Heeds: k.heeds()}), nil
}

// heeds are the columns of a task's priority and limits that Enqueue names.
func (k sqlQueue) heeds() (names []string) {
	for _, name := range []string{"priority", "retry_limit", "retry_delay", "timeout"} {
		if reads(k.Enqueue, name) {
			names = append(names, name)
		}
	}
	return names
}

const (
	sqlBatch = `nextrun_batch AS (SELECT v.jid, v.tracker AS task_id, v.due, v.task, v.group_, t.args, v.subject, v.submitter,
		v.submitted, v.priority, v.single, v.traceparent{limits} FROM {batch} AS v` + foreign.JoinTask + `)`
	sqlOpen      = `nextrun_open AS (SELECT v.ref, v.jid, v.task_id, v.due, v.submitted FROM {batch} AS v)`
	sqlCancel    = `nextrun_open AS (SELECT v.ref, v.jid, v.task_id, v.due, v.submitted, {now} AS now FROM {batch} AS v)`
	sqlQueues    = `nextrun_queues AS (SELECT v.queue FROM {batch} AS v)`
	sqlAbsent    = "the statement enqueue returned no row for this job; it can return jid and refused, the reason"
	pgParamTime  = "$2::timestamp"
	anyParamTime = "$2"
)

// shape makes the statements. SQLite would unpack the rows again for each row that
// a user joins with them, if it were not told to keep them.
func (k sqlQueue) shape(sqlite bool) *foreign.Shape {
	now, as := pgParamTime, " AS ("
	if sqlite {
		now, as = anyParamTime, " AS MATERIALIZED ("
	}
	limits := "" // a statement that names none may read all columns by *
	for _, name := range k.heeds() {
		if name != "priority" {
			limits += ", t." + name
		}
	}
	with := func(relation, user string) foreign.Statement {
		return foreign.UserStatement(strings.NewReplacer(" AS (", as, "{now}", now, "{limits}", limits).Replace(relation), user)
	}
	return &foreign.Shape{
		Columns: []foreign.Column{
			foreign.ColumnJID, foreign.ColumnTracker, foreign.ColumnDue, foreign.ColumnTask, foreign.ColumnGroup,
			foreign.ColumnSubject, foreign.ColumnSubmitter, foreign.ColumnSubmitted, foreign.ColumnPriority, foreign.ColumnSingle, foreign.ColumnTrace,
		},
		Insert: with(sqlBatch, k.Enqueue), Pending: with(sqlOpen, k.Pending), Cancel: with(sqlCancel, k.Cancel),
		Ends: with(sqlOpen, k.Outcome), Notify: with(sqlQueues, k.Notify), Absent: sqlAbsent, QueueOf: func(j jobqueue.Job) string { return j.Group },
	}
}

// detect lets the database plan the statements, and runs pending without a job.
func (k sqlQueue) detect(ctx context.Context, tx *sqldb.Tx, r *foreign.Inspection) (*foreign.Shape, error) {
	found := k.shape(tx.SQL().IsSQLite())
	fields := make([]sqldb.Field, len(found.Columns))
	for i, c := range found.Columns {
		fields[i] = c.Field
	}
	for _, s := range []struct {
		name   string
		s      foreign.Statement
		fields []sqldb.Field
		more   []any
	}{
		{"enqueue", found.Insert, fields, nil},
		{"pending", found.Pending, foreign.OpenFields, nil},
		{"cancel", found.Cancel, foreign.OpenFields, []any{sqldb.Timestamp(tx.Now())}},
		{"notify", found.Notify, []sqldb.Field{sqldb.Text("queue")}, nil},
	} {
		if s.s.Empty() {
			continue
		}
		none, err := tx.DB().Records(1, s.fields, 0, nil)
		if err != nil {
			return nil, err
		}
		if err := s.s.Check(ctx, tx, none, s.name, r, s.more...); err != nil {
			return nil, err
		}
	}
	if r.Unusable() {
		return nil, nil
	}
	r.Found = "statements that the database can run"
	return found, nil
}
