package migrations

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/ownschema"
	"github.com/nextrun/nextrun/migrations/internal/shape"
)

// statements are the SQL that repairs a difference. There are none if the owner has
// to decide how.
func (c comparison) statements(d Difference) []string {
	on := " ON " + d.Table
	if c.dialect == SQLite {
		on = ""
	}
	switch {
	case d.Kind == shape.Trigger && d.Problem == isLeftOver:
		return []string{"DROP TRIGGER IF EXISTS " + d.Name + on}
	case d.Kind == shape.Index && d.Problem == isLeftOver:
		return []string{"DROP INDEX IF EXISTS " + d.Name}
	case d.Kind == shape.Function && d.Problem == isLeftOver:
		return []string{"DROP FUNCTION IF EXISTS " + d.Name}
	case d.Kind == shape.Trigger:
		return []string{"DROP TRIGGER IF EXISTS " + d.Name + on, d.want.Text}
	case d.Kind == shape.Index:
		return []string{"DROP INDEX IF EXISTS " + d.Name, d.want.Text}
	case d.Kind == shape.View && c.dialect == SQLite:
		return []string{"DROP VIEW IF EXISTS " + d.Name, d.want.Text}
	case d.Kind == shape.View:
		return []string{d.want.Text}
	case d.Kind == shape.Function:
		return c.function(d)
	case c.dialect == SQLite:
		return c.sqliteTable(d)
	}
	return c.postgresTable(d)
}

// function makes a function anew. Who may use one that runs with its owner's
// rights is part of what it is.
func (c comparison) function(d Difference) []string {
	list := []string{d.want.Text}
	if strings.Contains(d.want.Text, " SECURITY DEFINER") {
		list = append(list, "REVOKE EXECUTE ON FUNCTION "+d.Name+" FROM PUBLIC")
	}
	return list
}

func (c comparison) sqliteTable(d Difference) []string {
	switch {
	case d.Kind == shape.Table:
		return []string{d.want.Text}
	case d.Kind == shape.Column && d.Problem == isMissing:
		return []string{"ALTER TABLE " + d.Table + " ADD COLUMN " + d.Name + " " + d.want.TypeAndDefault()}
	}
	return nil
}

func (c comparison) postgresTable(d Difference) []string {
	alter := "ALTER TABLE " + d.Table
	switch {
	case d.Kind == shape.Table:
		return []string{"CREATE TABLE " + d.Table + " ()"}
	case d.Kind == shape.Column && d.Problem == isMissing:
		return []string{alter + " ADD COLUMN " + d.Name + " " + d.want.TypeAndDefault()}
	case d.Kind == shape.Column && d.Problem == noDefault:
		return []string{alter + " ALTER COLUMN " + d.Name + " SET DEFAULT " + d.want.Default}
	case d.Kind == shape.Constraint:
		text := d.want.Text
		if strings.HasPrefix(text, "CHECK") && !strings.HasSuffix(text, "NOT VALID") {
			text += " NOT VALID" // rows that break it are to be found, not to stop the repair
		}
		return []string{alter + " DROP CONSTRAINT IF EXISTS " + d.Name, alter + " ADD CONSTRAINT " + d.Name + " " + text}
	}
	return nil
}

// repair mends what it can of the differences between the database and the
// schema that this version expects, in one transaction, and returns what it has
// restored. The rest is left to [Migrator.Check].
func (m *Migrator) repair(ctx context.Context) ([]Applied, error) {
	if list, err := m.Drift(ctx); err != nil || len(list) == 0 {
		return nil, err
	}
	want, err := expected(m.dialect)
	if err != nil {
		return nil, err
	}
	found, err := recorded(ctx, m.db)
	if err != nil {
		return nil, err
	}
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing to undo after a commit
	schema := ""
	if m.dialect == Postgres {
		// Others who migrate or repair at once take turns.
		err := tx.QueryRowContext(ctx, "SELECT quote_ident(current_schema()) FROM pg_advisory_xact_lock($1)", ownschema.Lock).Scan(&schema)
		if err != nil {
			return nil, fmt.Errorf("lock the schema: %w", err)
		}
	}
	list, err := differences(ctx, tx, m.dialect, want, found)
	if err != nil {
		return nil, err
	}
	restored, err := restore(ctx, tx, m.dialect, schema, list)
	if err != nil {
		return nil, err
	}
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	return restored, nil
}

// restore mends differences in a transaction.
func restore(ctx context.Context, tx *sql.Tx, dialect Dialect, schema string, list []Difference) (restored []Applied, err error) {
	slices.SortStableFunc(list, inOrder)
	c := comparison{dialect: dialect}
	for _, d := range list {
		statements := c.statements(d)
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, strings.ReplaceAll(statement, "$schema", schema)); err != nil {
				return nil, fmt.Errorf("restore %s, which %s: %w", d.Object(), d.Problem, err)
			}
		}
		if len(statements) > 0 {
			restored = append(restored, Applied{Name: d.Object(), Restored: true})
		}
	}
	return restored, nil
}

// inOrder puts first what others are in the way of, or depend on.
func inOrder(a, b Difference) int {
	rank := func(d Difference) int {
		if d.Problem == isLeftOver {
			return -slices.Index(shape.Kinds, d.Kind) // triggers before their functions
		}
		return 1 + slices.Index(shape.Kinds, d.Kind)
	}
	return rank(a) - rank(b)
}
