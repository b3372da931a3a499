package jobs

import (
	"context"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// transitionFields are those of a transition: what the job has to be, and what is set.
var transitionFields = []sqldb.Field{
	sqldb.Text("jid"), sqldb.Text("worker"), sqldb.Text("was"),
	sqldb.Text("state"), sqldb.Text("result"), sqldb.Time("retry"), sqldb.Int("tried"), sqldb.Time("finished"), sqldb.Int("interrupted"),
}

func transitionValues(t exchange.Transition, now time.Time) []any {
	var retry, finished time.Time
	tried, interrupted := 0, 0
	switch {
	case t.To.Final():
		finished = now
	case t.To == jobqueue.Stuck:
		tried, retry = 1, now.Add(t.Delay)
	}
	if t.Interrupted {
		interrupted = 1
	}
	return []any{
		t.JID, t.Worker, string(t.From),
		string(t.To), sqldb.Nullable(t.Result), retry, tried, finished, interrupted,
	}
}

// transitions moves jobs, and returns those that it has moved. It sets
//
//	of each job         state, result
//	to waiting          worker (NULL)
//	to stuck            retry, retries (one more)
//	to a final state    finished, progress (100 if it is success)
//	if interrupted      interrupts (one more)
func (tx workTx) transitions(ctx context.Context, list []exchange.Transition) (done []string, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	r := tx.DB().Records(1, transitionFields, len(list), func(i int) []any { return transitionValues(list[i], tx.Now()) })
	most := tx.SQL().Least + "(CAST(job.%s AS integer), 2147483646)"
	counted := func(column string) string { return strings.ReplaceAll(most, "%s", column) }
	err = tx.Select(ctx, &done, `UPDATE job SET state = r.state, result = r.result,
			worker = CASE WHEN r.state = 'waiting' THEN NULL ELSE job.worker END,
			retry = r.retry, retries = `+counted("retries")+` + r.tried,
			finished = r.finished, progress = CASE WHEN r.state = 'success' THEN 100 ELSE job.progress END,
			interrupts = `+counted("interrupts")+` + r.interrupted
		FROM `+r.SQL+` AS r
		WHERE job.jid = r.jid AND job.`+opaqueState+` = r.was AND coalesce(job.worker, '') = r.worker
			AND (job.cancel IS NULL OR r.state NOT IN ('waiting', 'stuck'))
			AND (r.was IN ('scheduled', 'running') OR job.retry IS NOT NULL)
		RETURNING job.jid`, r.Param)
	return done, err
}
