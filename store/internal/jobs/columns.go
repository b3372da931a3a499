package jobs

import (
	"context"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// The columns of the table job, and lists of their names.
var (
	allColumns     = jobqueue.Columns()
	jobColumns     = column.Names("", allColumns)
	slimColumns    = column.Without(allColumns, "args") // which may be large
	slimJobColumns = column.Names("", slimColumns)

	submitColumns  = jobqueue.SubmitColumns()
	submitNames    = column.Names("", submitColumns)
	submitFields   = append(sqldb.Fields(submitColumns), sqldb.Int("n"))
	submittedNames = column.Names("v.", submitColumns)
)

// jobs reads jobs by a query that yields these columns.
func (tx jobTx) jobs(ctx context.Context, columns []jobqueue.Column, query string, args ...any) ([]jobqueue.Job, error) {
	return sqldb.Rows(ctx, tx.Tx, columns, query, args...)
}

// Conditions on rows of the table job, as its partial indexes have them.
const (
	claimable    = "state = 'waiting' AND retry IS NULL"
	waitsForTime = "(state = 'stuck' OR state = 'waiting' AND retry IS NOT NULL)" // most of them: Docspell's stuck jobs have no time
	hasWorker    = "state IN ('scheduled', 'running')"
	pending      = "state IN " + exchange.PendingStates
	ofHooks      = "group_ = '" + jobqueue.HookGroup + "'"
	notOfHooks   = "group_ <> '" + jobqueue.HookGroup + "'"
)

// Conditions on rows that are found by their ids. They are opaque to the planner of PostgreSQL, whose
// statistics on the partial indexes are out of date as soon as a queue fills or empties. For a table
// that was never analysed it expects one row, and joins by a nested loop over a full scan.
var (
	claimableByID = opaque(claimable)
	// heldByWorker is the fence of every change that a worker, $2, makes to its jobs.
	heldByWorker = opaque("job.state IN ('scheduled', 'running') AND coalesce(job.worker, '') = $2")
)

func opaque(condition string) string { return "CASE WHEN " + condition + " THEN true ELSE false END" }

// opaqueState is the column state in such a condition.
const opaqueState = "state || ''"
