package jobs

import (
	"context"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// SetLimit implements [jobqueue.QueueTx].
func (tx jobTx) SetLimit(ctx context.Context, l jobqueue.Limit) error {
	_, err := tx.Exec(ctx, `INSERT INTO job_limit (kind, name, max) VALUES ($1, $2, $3)
		ON CONFLICT (kind, name) DO UPDATE SET max = excluded.max`, string(l.Kind), l.Name, l.Max)
	return err
}

// DropLimit implements [jobqueue.QueueTx].
func (tx jobTx) DropLimit(ctx context.Context, s jobqueue.Scope) (bool, error) {
	n, err := tx.Exec(ctx, "DELETE FROM job_limit WHERE kind = $1 AND name = $2", string(s.Kind), s.Name)
	return n > 0, err
}

// Limits implements [jobqueue.QueueTx].
func (tx jobTx) Limits(ctx context.Context) ([]jobqueue.Limit, error) {
	var rows []struct {
		Kind    sqldb.RowText
		Name    sqldb.RowText
		Max     sqldb.RowInt
		Running int
	}
	err := tx.Select(ctx, &rows, `WITH busy (kind, name, n) AS (
			SELECT 'handler', task, count(*) FROM job WHERE `+hasWorker+` GROUP BY task
			UNION ALL SELECT 'group', group_, count(*) FROM job WHERE `+hasWorker+` GROUP BY group_
			UNION ALL SELECT 'task', tracker, count(*) FROM job WHERE `+hasWorker+` AND tracker IS NOT NULL GROUP BY tracker)
		SELECT l.kind, l.name, l.max, coalesce(b.n, 0) AS running
		FROM job_limit AS l LEFT JOIN busy AS b ON b.kind = l.kind AND b.name = l.name ORDER BY l.kind, l.name`)
	limits := make([]jobqueue.Limit, len(rows))
	for i, r := range rows {
		limits[i] = jobqueue.Limit{Scope: jobqueue.Scope{Kind: jobqueue.ScopeKind(r.Kind), Name: string(r.Name)}, Max: r.Max.N, Running: r.Running}
	}
	return limits, err
}

// running counts the jobs that run, of each scope that limits candidates. Until the
// transaction ends, no other claim begins jobs of these scopes. A scope of which
// another claim begins jobs just now counts as full.
func (tx claimTx) running(ctx context.Context, candidates []exchange.Candidate) (map[jobqueue.Scope]int, error) {
	running := map[jobqueue.Scope]int{}
	var scopes []jobqueue.Scope
	for _, job := range candidates {
		for _, l := range job.Limits {
			if _, seen := running[l.Scope]; !seen {
				running[l.Scope] = 0
				scopes = append(scopes, l.Scope)
			}
		}
	}
	if len(scopes) == 0 {
		return nil, nil
	}
	r := tx.DB().Records(1, []sqldb.Field{sqldb.Text("kind"), sqldb.Text("name")}, len(scopes),
		func(i int) []any { return []any{string(scopes[i].Kind), scopes[i].Name} })
	// A statement sees what was committed when it began, so the count is another
	// statement: it sees the jobs of every claim that had the lock before.
	for _, query := range []string{lockSQL, countSQL} {
		lock := tx.SQL().TryLock("v.kind || ' ' || v.name")
		if query == lockSQL && lock == "" {
			continue
		}
		var rows []struct {
			jobqueue.Scope
			N int
		}
		if err := tx.Select(ctx, &rows, tx.fill(query, "{scopes}", r.SQL, "{lock}", lock), r.Param); err != nil {
			return nil, err
		}
		for _, row := range rows {
			running[row.Scope] += row.N
		}
	}
	return running, nil
}

// nothing completes the result of a claim that has found no job: what it may have to
// wait for.
func (tx claimTx) nothing(ctx context.Context, c exchange.Claim, result *exchange.Result) error {
	tasks := tx.Texts(1, c.Tasks)
	var found struct {
		Later   sqldb.RowTime
		Limited bool
	}
	if err := tx.First(ctx, &found, tx.fill(nothingSQL, "{tasks}", tasks.SQL), tasks.Param); err != nil {
		return err
	}
	result.Limited = result.Limited || found.Limited
	if at := found.Later.Time(); !at.IsZero() {
		result.Later = tx.until(at)
	}
	return nil
}
