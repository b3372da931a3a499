package jobs

import (
	"context"
	"reflect"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// inWork are the jobs that have not ended, each part by its own index.
const inWork = `SELECT * FROM job WHERE ` + claimable + ` UNION ALL SELECT * FROM job WHERE ` + waitsForTime + `
	UNION ALL SELECT * FROM job WHERE ` + hasWorker

// newest lists the jobs that were submitted last, without a filter: no index has that order. A job that was submitted
// after a time has not ended before it, so the index of when jobs ended finds all that were submitted since one of the newest
// ended. If these are never enough, it returns fewer than are asked for, or none.
func (tx jobTx) newest(ctx context.Context, f jobqueue.Filter, columns []jobqueue.Column, names string) ([]jobqueue.Job, error) {
	plain := jobqueue.Filter{Limit: f.Limit, WithArgs: f.WithArgs}
	if !reflect.DeepEqual(f, plain) {
		return nil, nil
	}
	for _, times := range []int{3, 30, 300} {
		var ends []sqldb.RowTime
		err := tx.Select(ctx, &ends, `SELECT finished FROM job WHERE finished IS NOT NULL ORDER BY finished DESC LIMIT 1 OFFSET $1`, times*f.Limit)
		if err != nil || len(ends) == 0 {
			return nil, err
		}
		jobs, err := tx.jobs(ctx, columns, `SELECT `+names+` FROM (SELECT * FROM job WHERE finished >= $1 UNION ALL `+inWork+`) AS job
			WHERE submitted >= $1 AND `+notOfHooks+` ORDER BY submitted DESC, jid DESC LIMIT $2`, sqldb.Timestamp(ends[0].Time()), f.Limit)
		if err != nil || len(jobs) == f.Limit {
			return jobs, err
		}
	}
	return nil, nil
}

// listed are the columns of a list, and their names.
func listed(f jobqueue.Filter) (columns []jobqueue.Column, names string) {
	if f.WithArgs {
		return allColumns, jobColumns
	}
	return slimColumns, slimJobColumns
}
