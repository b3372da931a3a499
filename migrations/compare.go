package migrations

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// mismatchError is returned by [Migrator.Up] when a table of a name that
// nextrun uses is something else. Nothing has been changed then.
type mismatchError struct {
	Table  string
	Column string // empty: the table as such
	Reason string
}

// Error names the table, the column and the remedy.
func (e *mismatchError) Error() string {
	place := "table " + e.Table
	if e.Column != "" {
		place = "column " + e.Table + "." + e.Column
	}
	return fmt.Sprintf("%s is not what nextrun expects: %s; nothing was changed. "+
		"Rename that table, or give nextrun a database or schema of its own", place, e.Reason)
}

// compare checks those tables that exist against the expected columns.
func (m *Migrator) compare(ctx context.Context) error {
	found, err := tables.Compare(ctx, m.db, m.dialect)
	if err != nil || found == nil {
		return err
	}
	return (*mismatchError)(found)
}
