package jobs

import (
	"context"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
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
