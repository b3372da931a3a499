package migrations

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	reason := e.Reason
	if e.Column != "" {
		reason = e.Table + "." + e.Column + ": " + reason
	}
	return fmt.Sprintf("table %s is none that nextrun can use (%s); nothing was changed. If it belongs to something else, "+
		"give nextrun a schema of its own, with --schema nextrun (on SQLite: another file), or rename that table", e.Table, reason)
}

// compare checks those tables that exist against the expected columns.
func (m *Migrator) compare(ctx context.Context) error {
	adds, err := m.adds(ctx)
	if err != nil {
		return err
	}
	for _, table := range slices.Concat(slices.Sorted(maps.Keys(expected)), slices.Sorted(maps.Keys(adds))) {
		if strings.Contains(table, ".") {
			continue
		}
		have, err := m.columns(ctx, table)
		if err != nil {
			return err
		}
		if len(have) == 0 {
			continue
		}
		if found := mismatch(table, adds, have); found != nil {
			return found
		}
	}
	return nil
}

// adds names the tables, views ("periodic_tick") and columns ("job.due") that the file makes in a database that has all
// tables that may be there.
func (m *Migrator) adds(ctx context.Context) (map[string]bool, error) {
	found := map[string]bool{}
	for table, columns := range expected {
		found[table] = true
		for _, c := range columns {
			found[table+"."+c.Name] = true
		}
	}
	text, err := m.render(ctx, m.files[0], found)
	adds := map[string]bool{}
	for _, o := range objectsOf(text) {
		switch {
		case o.Kind == kindTable || o.Kind == kindView:
			adds[o.Name] = true
		case o.Kind == kindColumn && found[o.Table]:
			adds[o.Table+"."+o.Name] = true
		}
	}
	return adds, err
}

// mismatch is the first column of a table that does not fit, or nil.
func mismatch(table string, adds map[string]bool, have []actual) *mismatchError {
	if adds[table] {
		return &mismatchError{Table: table, Reason: "it exists already, but not by a migration of nextrun"}
	}
	byName := map[string]actual{}
	for _, a := range have {
		if adds[table+"."+a.name] {
			return &mismatchError{table, a.name, "it exists already, and nextrun would add a column of that name"}
		}
		byName[a.name] = a
	}
	for _, w := range expected[table] {
		a, exists := byName[w.Name]
		switch {
		case w.optional && !exists:
		case !exists:
			return &mismatchError{table, w.Name, "it is missing"}
		case kindOf(a.declared) != w.kind:
			return &mismatchError{table, w.Name, fmt.Sprintf("its type is %s, expected %s", a.declared, w.kind)}
		}
	}
	return unknownOrNull(table, have)
}

// unknownOrNull refuses columns that nextrun does not know and an INSERT has to
// fill, and columns that may be NULL where nextrun, like Docspell, reads a value.
func unknownOrNull(table string, have []actual) *mismatchError {
	for _, a := range have {
		if expectedColumn(table, a.name) == nil && a.notNull && !a.hasDefault {
			return &mismatchError{table, a.name, "nextrun does not know it, and it has neither a default nor may it be NULL"}
		}
	}
	for _, a := range have {
		if w := expectedColumn(table, a.name); w != nil && !a.notNull && !w.null {
			return &mismatchError{table, a.name, "it may be NULL, and one row in which it is would hold up the others; " +
				"make it NOT NULL (PostgreSQL: ALTER TABLE " + table + " ALTER COLUMN " + a.name + " SET NOT NULL)"}
		}
	}
	return nil
}

// actual is a column as the database has it.
type actual struct {
	name       string
	declared   string
	notNull    bool
	hasDefault bool
}

// present names what is there of the expected tables: tables ("job"), optional columns
// ("joblog.counter") and defaults ("job.args default").
func (m *Migrator) present(ctx context.Context) (map[string]bool, error) {
	found := map[string]bool{}
	for table := range expected {
		have, err := m.columns(ctx, table)
		if err != nil {
			return nil, err
		}
		if len(have) > 0 {
			found[table] = true
		}
		for _, a := range have {
			want := expectedColumn(table, a.name)
			if want != nil && want.optional {
				found[table+"."+a.name] = true
			}
			if want != nil && want.Default != "" && a.hasDefault {
				found[table+"."+a.name+" default"] = true
			}
		}
	}
	return found, nil
}

// columns lists the columns of a table, none if there is no such table.
func (m *Migrator) columns(ctx context.Context, table string) ([]actual, error) {
	query := `SELECT column_name, data_type, is_nullable = 'NO', column_default IS NOT NULL OR is_identity = 'YES'
		FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`
	if m.dialect == SQLite {
		query = `SELECT name, type, "notnull" OR pk > 0, dflt_value IS NOT NULL FROM pragma_table_info(?1) ORDER BY cid`
	}
	rows, err := m.db.QueryContext(ctx, query, table)
	if err != nil {
		return nil, fmt.Errorf("read columns of %s: %w", table, err)
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	var list []actual
	for rows.Next() {
		var a actual
		if err := rows.Scan(&a.name, &a.declared, &a.notNull, &a.hasDefault); err != nil {
			return nil, fmt.Errorf("read columns of %s: %w", table, err)
		}
		a.name = strings.ToLower(a.name)
		list = append(list, a)
	}
	return list, rows.Err()
}
