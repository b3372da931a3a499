package queues

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// openFields are the columns of open jobs that statements read.
var openFields = []sqldb.Field{
	sqldb.Text("ref"), sqldb.Text("jid"), sqldb.Text("task_id"), sqldb.Time("due"), sqldb.Time("submitted"),
}

// Pending implements [sink.Submitter].
func (q *queue) Pending(ctx context.Context, outer jobqueue.DBTX, open []sink.Open) (pending []sink.Pending, err error) {
	err = q.ask(ctx, outer, q.preset.pending, open, func(o sink.Open, row row) {
		p := sink.Pending{JID: o.JID, Due: o.Due, State: jobqueue.Waiting, Started: row.time("started")}
		if state := jobqueue.State(row.text("state")); state.Valid() {
			p.State = state
		}
		pending = append(pending, p)
	})
	return pending, err
}

// Gone implements [sink.EndTeller].
func (q telling) Gone() sink.EndState { return q.preset.gone }

// Ends implements [sink.EndTeller].
func (q telling) Ends(ctx context.Context, outer jobqueue.DBTX, open []sink.Open) (ends []sink.JobEnd, err error) {
	err = q.ask(ctx, outer, q.preset.ends, open, func(o sink.Open, row row) {
		ends = append(ends, sink.JobEnd{
			JID: o.JID, State: sink.EndState(row.text("outcome")), Finished: row.time("finished"), Attempts: row.number("attempts"), Error: row.text("error"),
		})
	})
	return ends, err
}

// Cancel implements [sink.Canceller].
func (q cancelling) Cancel(ctx context.Context, outer jobqueue.DBTX, open []sink.Open, now time.Time) (cancelled []string, err error) {
	err = q.ask(ctx, outer, q.preset.cancel, open, func(o sink.Open, _ row) { cancelled = append(cancelled, o.JID) }, sqldb.Timestamp(now))
	return cancelled, err
}

// Retries implements [sink.Retrier].
func (q *queue) Retries() bool { return !q.preset.retry.empty() }

// Retry implements [sink.Retrier].
func (q *queue) Retry(ctx context.Context, outer jobqueue.DBTX, job sink.Open, ended time.Time) (ref string, err error) {
	rows, err := q.over(ctx, q.db.In(outer, time.Time{}), q.preset.retry, []sink.Open{job}, sqldb.Timestamp(ended))
	for _, r := range rows.list {
		ref = r.text("ref")
	}
	return ref, err
}

// ask runs a statement over open jobs and calls each with those whose reference, or jid,
// it returns. It leaves out those that cannot be in the queue.
func (q *queue) ask(ctx context.Context, outer jobqueue.DBTX, s statement, open []sink.Open, each func(sink.Open, row), more ...any) error {
	byRef, byJID := make(map[string]sink.Open, len(open)), make(map[string]sink.Open, len(open))
	list := make([]sink.Open, 0, len(open))
	for _, o := range open {
		if q.preset.ref == nil || q.preset.ref.MatchString(o.Ref) {
			list = append(list, o)
			byRef[o.Ref], byJID[o.JID] = o, o
		}
	}
	if len(list) == 0 {
		return nil
	}
	rows, err := q.over(ctx, q.db.In(outer, time.Time{}), s, list, more...)
	if err != nil {
		return err
	}
	for _, row := range rows.list {
		o, ok := byRef[row.text("ref")]
		if row["ref"] == nil {
			o, ok = byJID[row.text("jid")]
		}
		if ok {
			delete(byRef, o.Ref)
			delete(byJID, o.JID)
			each(o, row)
		}
	}
	return nil
}

// over runs a statement over open jobs.
func (q *queue) over(ctx context.Context, tx *sqldb.Tx, s statement, open []sink.Open, more ...any) (result, error) {
	r := q.db.Records(1, openFields, len(open), func(i int) []any {
		o := open[i]
		return []any{o.Ref, o.JID, o.TaskID, o.Due, o.Submitted}
	})
	return q.query(ctx, tx, s, r, more...)
}
