package queue

import (
	"context"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// Pause implements [jobqueue.QueueTx].
func (tx jobTx) Pause(ctx context.Context, kind jobqueue.ScopeKind, name string) error {
	_, err := tx.Exec(ctx, "INSERT INTO job_pause (kind, name, since) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
		string(kind), name, sqldb.Timestamp(tx.Now()))
	return err
}

// Resume implements [jobqueue.QueueTx].
func (tx jobTx) Resume(ctx context.Context, kind jobqueue.ScopeKind, name string) (bool, error) {
	n, err := tx.Exec(ctx, "DELETE FROM job_pause WHERE kind = $1 AND name = $2", string(kind), name)
	return n > 0, err
}

// Pauses implements [jobqueue.QueueTx].
func (tx jobTx) Pauses(ctx context.Context) ([]jobqueue.Pause, error) {
	var rows []struct {
		Kind  sqldb.RowText
		Name  sqldb.RowText
		Since sqldb.RowTime
	}
	if err := tx.Select(ctx, &rows, "SELECT kind, name, since FROM job_pause ORDER BY kind, name"); err != nil {
		return nil, err
	}
	pauses := make([]jobqueue.Pause, len(rows))
	for i, r := range rows {
		pauses[i] = jobqueue.Pause{Kind: jobqueue.ScopeKind(r.Kind), Name: string(r.Name), Since: r.Since.Time()}
	}
	return pauses, nil
}

// SetLimit implements [jobqueue.QueueTx].
func (tx jobTx) SetLimit(ctx context.Context, l jobqueue.Limit) error {
	_, err := tx.Exec(ctx, `INSERT INTO job_limit (kind, name, most) VALUES ($1, $2, $3)
		ON CONFLICT (kind, name) DO UPDATE SET most = excluded.most`, string(l.Kind), l.Name, l.Most)
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
		Most    sqldb.RowInt
		Running int
	}
	err := tx.Select(ctx, &rows, `WITH busy (kind, name, n) AS (
			SELECT 'task', task, count(*) FROM job WHERE `+hasWorker+` GROUP BY task
			UNION ALL SELECT 'group', group_, count(*) FROM job WHERE `+hasWorker+` GROUP BY group_)
		SELECT l.kind, l.name, l.most, coalesce(b.n, 0) AS running
		FROM job_limit AS l LEFT JOIN busy AS b ON b.kind = l.kind AND b.name = l.name ORDER BY l.kind, l.name`)
	limits := make([]jobqueue.Limit, len(rows))
	for i, r := range rows {
		limits[i] = jobqueue.Limit{Scope: jobqueue.Scope{Kind: jobqueue.ScopeKind(r.Kind), Name: string(r.Name)}, Most: r.Most.N, Running: r.Running}
	}
	return limits, err
}
