package jobs

import (
	"context"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

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
	r, err := tx.DB().Records(1, []sqldb.Field{sqldb.Text("kind"), sqldb.Text("name")}, len(scopes),
		func(i int) []any { return []any{string(scopes[i].Kind), scopes[i].Name} })
	if err != nil {
		return nil, err
	}
	// A statement sees what was committed when it began, so the count is a statement
	// of its own: it sees the jobs of every claim that had the lock before.
	for _, query := range []string{lockSQL, countSQL} {
		lock := tx.SQL().TryLock("v.kind || ' ' || v.name")
		if query == lockSQL && lock == "" {
			continue
		}
		var rows []scopeLoad
		if err := tx.Select(ctx, &rows, tx.fill(query, "{scopes}", r.SQL, "{lock}", lock), r.Param); err != nil {
			return nil, err
		}
		for _, row := range rows {
			running[jobqueue.Scope{Kind: jobqueue.ScopeKind(row.Kind), Name: row.Name}] += row.N
		}
	}
	return running, nil
}

// scopeLoad is how many jobs of a scope run.
type scopeLoad struct {
	Kind string
	Name string
	N    int
}

// nothing completes the result of a claim that has found no job: what it may have to
// wait for.
func (tx claimTx) nothing(ctx context.Context, c exchange.Claim, result *exchange.Result) error {
	tasks, err := tx.Texts(1, c.Tasks)
	if err != nil {
		return err
	}
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
