package foreign

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Auditor checks what the scheduler has promised against the tables of a queue. It only
// reads.
type Auditor interface {
	// Audit checks the jobs that a sink has put into the queue. It leaves out what the
	// tables of this kind of queue cannot tell.
	Audit(ctx context.Context, sink string, b AuditBounds) (Audit, error)
}

// AuditBounds are the limits of an audit.
type AuditBounds struct {
	Since time.Time // only younger jobs and ticks count
	Most  int       // rows of each kind
}

// Audit is what an audit found.
type Audit struct {
	Twice    []AuditRow // ticks that have two jobs
	Overlaps []AuditRow // tasks whose jobs must not overlap, with two that have not ended
	Gone     []AuditRow // submitted ticks whose job is gone, though the queue should still have it
}

// AuditRow is a task, and what is wrong with it.
type AuditRow struct{ TaskID, More string }

// settled is how old a tick must be: the transaction that submits it, and those that
// follow it, have ended.
const settled = time.Minute

// Audit implements [Auditor].
func (q *queue) Audit(ctx context.Context, sink string, b AuditBounds) (found Audit, err error) {
	err = q.db.View(ctx, func(tx *sqldb.Tx) error {
		shape, err := q.shape(ctx, tx)
		if err != nil {
			return err
		}
		if shape.Jobs == "" {
			found.Overlaps, err = q.stillOpen(ctx, tx, shape, sink, b)
			return err
		}
		a := auditing{tx: tx, jobs: "WITH j AS (" + shape.allJobs() + ")", b: b}
		if found.Twice, err = a.rows(ctx, `SELECT task_id, 'due ' || due || ': ' || count(*) || ' jobs' AS more FROM j
			GROUP BY task_id, due HAVING count(*) > 1 ORDER BY task_id, due`); err != nil {
			return err
		}
		found.Overlaps, err = a.rows(ctx, `SELECT j.task_id, count(*) || ' jobs' AS more FROM j JOIN periodic_task AS t ON t.id = j.task_id
			JOIN periodic_tick AS k ON k.task_id = j.task_id AND k.jid = j.jid
			WHERE j.pending AND t.overlap <> 'allow' AND t.sink = $3 AND (t.changed IS NULL OR t.changed < k.decided)
			GROUP BY j.task_id HAVING count(*) > 1 ORDER BY j.task_id`, sink)
		if err != nil || shape.Keeps == 0 {
			return err
		}
		a.b.Since = latest(b.Since, tx.Now().Add(-shape.Keeps))
		found.Gone, err = a.rows(ctx, `SELECT k.task_id, 'due ' || CAST(k.due AS text) || ', job ' || k.jid AS more
			FROM periodic_tick AS k JOIN periodic_task AS t ON t.id = k.task_id
			WHERE k.decision = 'submitted' AND t.sink = $3 AND k.decided >= $1 AND k.decided < $4 AND (t.changed IS NULL OR t.changed < k.decided)
				AND NOT EXISTS (SELECT 1 FROM j WHERE j.jid = k.jid) ORDER BY k.task_id, k.due`, sink, sqldb.Timestamp(tx.Now().Add(-settled)))
		return err
	})
	return found, q.wrap(err)
}

// allJobs is the query for the jobs of all parts.
func (s *Shape) allJobs() string {
	if s.Part == nil {
		return s.Jobs
	}
	queries := []string{"SELECT '' AS jid, '' AS task_id, '' AS due, false AS pending WHERE CAST($1 AS timestamp) IS NULL"}
	for part := range s.Parts {
		queries = append(queries, strings.ReplaceAll(s.Jobs, "{part}", part))
	}
	slices.Sort(queries)
	return strings.Join(queries, " UNION ALL ")
}

// auditing asks questions about the jobs j.
type auditing struct {
	tx   *sqldb.Tx
	jobs string
	b    AuditBounds
}

func (a auditing) rows(ctx context.Context, query string, more ...any) (list []AuditRow, err error) {
	var found []struct {
		TaskID sqldb.RowText `db:"task_id"`
		More   sqldb.RowText
	}
	args := append([]any{sqldb.Timestamp(a.b.Since), a.b.Most}, more...)
	err = a.tx.Select(ctx, &found, a.jobs+" "+query+" LIMIT $2", args...)
	for _, f := range found {
		list = append(list, AuditRow{string(f.TaskID), string(f.More)})
	}
	return list, err
}

// mostTicks is how many of the newest ticks of a queue that does not list its jobs are
// looked at.
const mostTicks = 10_000

// stillOpen asks the queue which jobs of the newest ticks have not ended. It finds those
// whose reference is their id.
func (q *queue) stillOpen(ctx context.Context, tx *sqldb.Tx, shape *Shape, name string, b AuditBounds) (list []AuditRow, err error) {
	var rows []struct {
		TaskID string `db:"task_id"`
		JID    string
		Due    sqldb.RowTime
		At     sqldb.RowTime
	}
	err = tx.Select(ctx, &rows, `SELECT k.task_id, k.jid, k.due, k.decided AS at FROM periodic_tick AS k JOIN periodic_task AS t ON t.id = k.task_id
		WHERE k.decision = 'submitted' AND t.sink = $1 AND t.overlap <> 'allow' AND k.decided >= $2 AND k.jid IS NOT NULL
			AND (t.changed IS NULL OR t.changed < k.decided) ORDER BY k.decided DESC LIMIT $3`, name, sqldb.Timestamp(b.Since), mostTicks)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	open := make([]sink.Open, len(rows))
	for i, r := range rows {
		open[i] = sink.Open{TaskID: r.TaskID, JID: r.JID, Ref: r.JID, Due: r.Due.Time(), Submitted: r.At.Time()}
	}
	parts, err := shape.sortOpen(open, true)
	if err != nil {
		return nil, err
	}
	jobs := map[string][]string{}
	err = q.overOpen(ctx, tx, shape.Pending, parts, func(o sink.Open, _ row) { jobs[o.TaskID] = append(jobs[o.TaskID], o.JID) })
	for id, jids := range jobs {
		if len(jids) > 1 {
			slices.Sort(jids)
			list = append(list, AuditRow{id, strings.Join(jids, ", ")})
		}
	}
	slices.SortFunc(list, func(a, b AuditRow) int { return strings.Compare(a.TaskID, b.TaskID) })
	return list[:min(len(list), b.Most)], err
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
