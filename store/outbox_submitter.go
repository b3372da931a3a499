package store

import (
	"context"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// eventSubmitter is the built-in [periodic.Submitter] of tasks whose sink is
// event: it writes rows of event_store and outbox_message. The event's topic is
// the task's group_, its type the task's task, its payload the args, which go
// from row to row inside the database, and its aggregate the task.
type eventSubmitter struct{ db *DB }

// CopiesArgs implements [backend.ArgsCopier].
func (eventSubmitter) CopiesArgs() {}

// Pending implements [periodic.Submitter]: an event is over once it is written,
// so there is nothing that a tick could overlap with.
func (eventSubmitter) Pending(context.Context, jobqueue.DBTX, []string) (map[string]periodic.Pending, error) {
	return map[string]periodic.Pending{}, nil
}

// Submit implements [periodic.Submitter]. It refuses nothing: an event of that
// task and due can be there only if the tick's own row was removed, and is an
// error then.
func (s eventSubmitter) Submit(ctx context.Context, outer jobqueue.DBTX, jobs []jobqueue.Job) ([]string, error) {
	tx := &Tx{tx: outer, db: s.db}
	rows := make([]appended, len(jobs))
	for i, j := range jobs {
		rows[i] = appended{id: j.JID, aggregate: j.Tracker}
	}
	if err := tx.nextVersions(ctx, rows); err != nil {
		return nil, err
	}
	columns := []field{{"ordinal", fieldInt}, {"id", fieldText}, {"task_id", fieldText},
		{"version", fieldInt}, {"due", fieldTime}, {"created", fieldTime}}
	r, err := s.db.newRecords(1, columns, len(jobs), func(i int) []any {
		return []any{i, jobs[i].JID, jobs[i].Tracker, rows[i].version, jobs[i].Due, jobs[i].Submitted}
	})
	if err != nil {
		return nil, err
	}
	if _, err := tx.exec(ctx, `INSERT INTO event_store
			(id, topic, type, aggregate_id, aggregate_version, payload, due, created)
		SELECT v.id, t.group_, t.task, v.task_id, v.version, t.args, v.due, v.created
		FROM `+r.sql+` AS v JOIN periodic_task AS t ON t.id = v.task_id ORDER BY v.ordinal`, r.param); err != nil {
		return nil, err
	}
	return nil, tx.addMessages(ctx, rows)
}
