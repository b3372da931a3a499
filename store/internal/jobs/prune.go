package jobs

import (
	"context"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// prunable is the condition of jobs that a filter selects; $1 are its states, $2 is
// the time before which they finished.
const prunable = "finished IS NOT NULL AND finished <= $2 AND state IN (SELECT v.value FROM {states} AS v)"

// Prune implements [jobqueue.QueueStore].
func (s Store) Prune(ctx context.Context, filter jobqueue.PruneFilter) (int, error) {
	p := pruning{filter: filter}
	return sqldb.Prune[string]{
		What: "jobs", Name: func(jid string) string { return "job " + jid },
		Page: func(ctx context.Context, tx *sqldb.Tx) ([]string, bool, error) { return p.page(ctx, jobTx{tx}) },
		Delete: func(ctx context.Context, tx *sqldb.Tx, jids []string) (int64, error) {
			return p.delete(ctx, jobTx{tx}, jids)
		},
	}.Run(ctx, s.db)
}

// Prune implements [jobqueue.QueueTx]. After a failure nothing more can be tried in the transaction.
func (tx jobTx) Prune(ctx context.Context, filter jobqueue.PruneFilter) (deleted int, err error) {
	p := pruning{filter: filter}
	for more := true; more && err == nil; {
		var jids []string
		if jids, more, err = p.page(ctx, tx); err != nil {
			break
		}
		var n int64
		n, err = p.delete(ctx, tx, jids)
		deleted += int(n)
	}
	return deleted, err
}

// pruning are the jobs that a filter selects, page by page.
type pruning struct {
	filter jobqueue.PruneFilter
	last   struct { // of the last page
		JID      string
		Finished sqldb.RowTime
	}
}

// selected fills in the condition prunable.
func (p *pruning) selected(tx jobTx) (states sqldb.Records, before sqldb.Timestamp) {
	list := p.filter.States
	if len(list) == 0 {
		list = []jobqueue.State{jobqueue.Success, jobqueue.Failed, jobqueue.Cancelled}
	}
	names := make([]string, len(list))
	for i, state := range list {
		names[i] = string(state)
	}
	return tx.Texts(1, names), sqldb.Timestamp(tx.Now().Add(-p.filter.OlderThan))
}

// page lists the next jobs, in the order of their ends, and reports whether others may follow.
func (p *pruning) page(ctx context.Context, tx jobTx) (jids []string, more bool, err error) {
	states, before := p.selected(tx)
	condition, args := "", []any{states.Param, before, sqldb.PruneBatch}
	from := p.last
	if from.JID != "" {
		condition, args = " AND (finished, jid) > ($4, $5)", append(args, sqldb.Timestamp(from.Finished.Time()), from.JID)
	}
	rows := []struct {
		JID      string
		Finished sqldb.RowTime
	}{}
	err = tx.Select(ctx, &rows, tx.fill("SELECT jid, finished FROM job WHERE "+prunable+condition+" ORDER BY finished, jid LIMIT $3",
		"{states}", states.SQL), args...)
	for _, r := range rows {
		jids = append(jids, r.JID)
		p.last = r
	}
	// A time that cannot be read could lead back.
	return jids, len(rows) == sqldb.PruneBatch && !p.last.Finished.Time().Before(from.Finished.Time()), err
}

// delete removes jobs with their logs, all or none but those that the filter does not select any more or that
// somebody has locked. It returns how many.
func (p *pruning) delete(ctx context.Context, tx jobTx, jids []string) (deleted int64, err error) {
	states, before := p.selected(tx)
	asked := tx.Texts(3, jids)
	var free []string
	err = tx.Select(ctx, &free, tx.fill("SELECT jid FROM job WHERE "+prunable+" AND jid IN (SELECT v.value FROM {jids} AS v)"+tx.SQL().ForUpdate,
		"{states}", states.SQL, "{jids}", asked.SQL), states.Param, before, asked.Param)
	if err != nil || len(free) == 0 {
		return 0, err
	}
	r := tx.Texts(1, free)
	for _, table := range []string{"joblog", "job"} {
		deleted, err = tx.Exec(ctx, "DELETE FROM "+table+" WHERE jid IN (SELECT v.value FROM "+r.SQL+" AS v)", r.Param)
		if err != nil {
			return 0, err
		}
	}
	return deleted, nil
}
