package tasks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// JobSink is nextrun's own queue: it writes rows of the table job. Args go from row
// to row inside the database. It implements [periodic.Queue].
type JobSink struct{ db *sqldb.DB }

// NewJobSink returns the sink of a database.
func NewJobSink(db *sqldb.DB) JobSink { return JobSink{db} }

var _ periodic.Queue = JobSink{}

// CopiesArgs implements [periodic.Queue].
func (JobSink) CopiesArgs() bool { return true }

// Cancels implements [periodic.Queue].
func (JobSink) Cancels() bool { return true }

// Pending implements [periodic.Queue]. Its query looks up one tracker after the
// other: for all at once PostgreSQL, whose statistics may be old, might read all
// pending jobs.
func (s JobSink) Pending(ctx context.Context, tx jobqueue.DBTX, trackers []string) (map[string]sink.Pending, error) {
	wanted := s.db.Texts(1, trackers)
	var jids []string
	in := s.db.In(tx, time.Time{})
	err := in.Select(ctx, &jids, `SELECT jid FROM (SELECT (SELECT j.jid FROM job AS j
			WHERE j.tracker = v.value AND j.state IN `+exchange.PendingStates+`
			ORDER BY j.submitted DESC LIMIT 1) AS jid FROM `+wanted.SQL+` AS v) AS p WHERE jid IS NOT NULL`, wanted.Param)
	if err != nil || len(jids) == 0 {
		return nil, err
	}
	found := s.db.Texts(1, jids)
	var rows []struct {
		Tracker, JID string
		State        jobqueue.State
		Due, Began   sqldb.RowTime // they only explain
	}
	err = in.Select(ctx, &rows, `SELECT tracker, jid, state, due, CASE WHEN started IS NOT NULL THEN submitted END AS began FROM job
		WHERE jid IN (SELECT v.value FROM `+found.SQL+` AS v) AND state IN `+exchange.PendingStates, found.Param)
	pending := make(map[string]sink.Pending, len(rows))
	for _, r := range rows {
		pending[r.Tracker] = sink.Pending{JID: r.JID, State: r.State, Due: r.Due.Time(), Started: r.Began.Time()}
	}
	return pending, err
}

// Submit implements [periodic.Queue]. All jobs of a batch have the same Submitted and
// the same Traceparent, so those of the first are written.
func (s JobSink) Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) ([]sink.Submission, error) {
	columns := []sqldb.Field{sqldb.Text("jid"), sqldb.Text("tracker"), sqldb.Time("due"), sqldb.Bool("single")}
	r := s.db.Records(1, columns, len(jobs), func(i int) []any {
		j := jobs[i]
		return []any{j.JID, j.Tracker, j.Due, j.Single}
	})
	in := s.db.In(tx, jobs[0].Submitted)
	added, err := in.Exec(ctx, `INSERT INTO job
			(jid, submitted, state, retries, progress, tracker, due, single, traceparent, `+jobColumns+`)
		SELECT v.jid, $2, 'waiting', 0, 0, v.tracker, v.due, v.single, CAST($3 AS text), `+takenColumns+`
		FROM `+r.SQL+` AS v JOIN periodic_task AS t ON t.id = v.tracker WHERE true
		ON CONFLICT DO NOTHING`, r.Param, sqldb.Timestamp(jobs[0].Submitted), sqldb.Nullable(jobs[0].Traceparent))
	if err != nil || added == int64(len(jobs)) {
		return nil, err
	}
	var missing []string
	err = in.Select(ctx, &missing, `SELECT v.jid FROM `+r.SQL+` AS v WHERE NOT EXISTS (SELECT 1 FROM job WHERE job.jid = v.jid)`, r.Param)
	refused := make([]sink.Submission, len(missing))
	for i, jid := range missing {
		refused[i] = sink.Submission{JID: jid}
	}
	return refused, err
}

// Cancel implements [periodic.Queue].
func (s JobSink) Cancel(ctx context.Context, tx jobqueue.DBTX, tasks map[string]string, now time.Time) ([]string, error) {
	r := s.db.Texts(1, slices.Collect(maps.Keys(tasks)))
	var cancelled []string
	err := s.db.In(tx, now).Select(ctx, &cancelled, `UPDATE job SET
			state = CASE WHEN state IN ('waiting', 'stuck') THEN 'cancelled' ELSE state END,
			finished = CASE WHEN state IN ('waiting', 'stuck') THEN $2 ELSE finished END,
			result = CASE WHEN state IN ('waiting', 'stuck') THEN 'replaced by a later tick' ELSE result END,
			cancel = $2
		WHERE jid IN (SELECT jid FROM job WHERE jid IN (SELECT v.value FROM `+r.SQL+` AS v)
			AND state IN `+exchange.PendingStates+s.db.SQL().ForUpdate+`)
		RETURNING jid`, r.Param, sqldb.Timestamp(now))
	return cancelled, err
}

// Probe implements [periodic.Queue].
func (s JobSink) Probe(ctx context.Context, tx jobqueue.DBTX) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO job (jid) SELECT '' WHERE false`); err != nil {
		return fmt.Errorf("write to the table job: %w", err)
	}
	return nil
}
