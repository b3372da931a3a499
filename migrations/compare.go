package migrations

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/migrations/internal/script"
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
	adds, err := m.adds()
	if err != nil {
		return err
	}
	found, err := tables.Compare(ctx, m.db, m.dialect, adds)
	if err != nil || found == nil {
		return err
	}
	return (*mismatchError)(found)
}

// adds names the tables, views and columns that the files make in a database that has all other tables.
func (m *Migrator) adds() (map[string]bool, error) {
	found := map[string]bool{}
	for table, columns := range tables.All {
		found[table] = true
		for _, c := range columns {
			found[table+"."+c.Name] = true
		}
	}
	list, err := m.objects(script.State{Found: found})
	adds := map[string]bool{}
	for _, o := range list {
		switch {
		case o.Kind == script.Table || o.Kind == script.View:
			adds[o.Name] = true
		case o.Kind == script.Column && found[o.Table]:
			adds[o.Table+"."+o.Name] = true
		}
	}
	return adds, err
}
