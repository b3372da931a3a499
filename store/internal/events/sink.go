package events

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Sink is the queue of tasks whose sink is event: it writes rows of event_store and
// outbox_message. It implements [periodic.Queue]. The event's topic is
// the task's group_, its type the task's task, its payload the args, which go
// from row to row inside the database, and its aggregate the task.
type Sink struct{ db *sqldb.DB }

// NewSink returns the sink of a database.
func NewSink(db *sqldb.DB) Sink { return Sink{db} }

var _ periodic.Queue = Sink{}

// CopiesArgs implements [periodic.Queue].
func (Sink) CopiesArgs() bool { return true }

// Cancels implements [periodic.Queue]: an event is never pending.
func (Sink) Cancels() bool { return true }

// Cancel implements [periodic.Queue].
func (Sink) Cancel(context.Context, jobqueue.DBTX, map[string]string, time.Time) ([]string, error) {
	return nil, nil
}

// Pending implements [periodic.Queue]: an event is over once it is written,
// so there is nothing that a tick could overlap with.
func (Sink) Pending(context.Context, jobqueue.DBTX, []string) (map[string]sink.Pending, error) {
	return map[string]sink.Pending{}, nil
}

// Submit implements [periodic.Queue]. It refuses nothing: an event of that
// task and due can be there only if the tick's own row was removed, and is an
// error then. All jobs of a batch have the traceparent of the first.
func (s Sink) Submit(ctx context.Context, outer jobqueue.DBTX, jobs []jobqueue.Job) ([]sink.Submission, error) {
	tx := s.db.In(outer, time.Time{})
	rows := make([]appended, len(jobs))
	for i, j := range jobs {
		rows[i] = appended{id: j.JID, aggregate: j.Tracker}
	}
	if err := nextVersions(ctx, tx, rows); err != nil {
		return nil, err
	}
	columns := []sqldb.Field{sqldb.Int("ordinal"), sqldb.Text("id"), sqldb.Text("task_id"),
		sqldb.Int("version"), sqldb.Time("due"), sqldb.Time("created")}
	r := s.db.Records(1, columns, len(jobs), func(i int) []any {
		return []any{i, jobs[i].JID, jobs[i].Tracker, rows[i].version, jobs[i].Due, jobs[i].Submitted}
	})
	_, err := tx.Exec(ctx, `INSERT INTO event_store
			(id, topic, type, aggregate_id, aggregate_version, payload, due, created, traceparent)
		SELECT v.id, t.group_, t.task, v.task_id, v.version, t.args, v.due, v.created, CAST($2 AS text)
		FROM `+r.SQL+` AS v JOIN periodic_task AS t ON t.id = v.task_id ORDER BY v.ordinal`, r.Param, sqldb.Nullable(jobs[0].Traceparent))
	if err != nil {
		return nil, err
	}
	return nil, addMessages(ctx, tx, rows)
}

// Probe implements [periodic.Queue].
func (Sink) Probe(ctx context.Context, tx jobqueue.DBTX) error {
	for _, query := range []string{
		`INSERT INTO event_aggregate (id) SELECT '' WHERE false`,
		`INSERT INTO event_store (id) SELECT '' WHERE false`,
		`INSERT INTO outbox_message (topic) SELECT '' WHERE false`,
	} {
		if _, err := tx.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	return nil
}
