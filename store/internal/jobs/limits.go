package jobs

import (
	"context"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
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
