// Package turning says what the ends of jobs mean for their periodic tasks: which is the first failure, and which the first
// success after failures. It is read when somebody wants to hear of it; nothing is counted.
package turning

import (
	"context"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// End is the end of the job of a tick, in whatever queue.
type End struct {
	Task string
	Due  time.Time
	JID  string
}

// query compares each end with the newest other run of its task that has ended. Of those that end together, only older
// ones count. {ends} are the records.
const query = `SELECT jid, CASE state WHEN 'failed' THEN 'failing' ELSE 'recovered' END AS turned FROM (
		SELECT v.jid, k.state, (SELECT o.state FROM periodic_run AS o
			WHERE o.task_id = v.task AND o.jid <> v.jid AND o.state IN ('success', 'failed')
				AND (o.due < v.due OR o.jid NOT IN (SELECT e.jid FROM {ends} AS e)) ORDER BY o.due DESC LIMIT 1) AS before
		FROM {ends} AS v JOIN periodic_run AS k ON k.task_id = v.task AND k.due = v.due AND k.jid = v.jid) AS r
	WHERE state = 'failed' AND coalesce(before, 'success') <> 'failed' OR state = 'success' AND before = 'failed'`

// Of returns what ends turned, by job.
func Of(ctx context.Context, tx *sqldb.Tx, ends []End) (map[string]jobqueue.Turned, error) {
	if len(ends) == 0 {
		return nil, nil
	}
	r := tx.DB().Records(1, []sqldb.Field{sqldb.Text("task"), sqldb.Time("due"), sqldb.Text("jid")}, len(ends),
		func(i int) []any { return []any{ends[i].Task, ends[i].Due, ends[i].JID} })
	var rows []struct{ JID, Turned string }
	err := tx.Select(ctx, &rows, strings.ReplaceAll(query, "{ends}", r.SQL), r.Param)
	turned := make(map[string]jobqueue.Turned, len(rows))
	for _, row := range rows {
		turned[row.JID] = jobqueue.Turned(row.Turned)
	}
	return turned, err
}
