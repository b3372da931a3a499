package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MismatchError is returned by [Migrator.Up] when a table of a name that
// nextrun uses is something else. Nothing has been changed then.
type MismatchError struct {
	Table  string
	Column string // empty: the table as such
	Reason string
}

// Error names the table, the column and the remedy.
func (e *MismatchError) Error() string {
	place := "table " + e.Table
	if e.Column != "" {
		place = "column " + e.Table + "." + e.Column
	}
	return fmt.Sprintf("%s is not what nextrun expects: %s; nothing was changed. "+
		"Rename that table, or give nextrun a database or schema of its own", place, e.Reason)
}

// actual is a column as the database has it.
type actual struct {
	name       string
	declared   string
	notNull    bool
	hasDefault bool
}

// compare checks all tables that exist, of those that Up makes, against the expected
// columns.
func (m *Migrator) compare(ctx context.Context) error { return m.compareTables(ctx, m.wanted()) }

func (m *Migrator) compareTables(ctx context.Context, names []string) error {
	for _, table := range names {
		have, err := m.columns(ctx, table)
		if err != nil {
			return err
		}
		if len(have) == 0 {
			continue
		}
		if err := mismatch(table, tables[table], have); err != nil {
			return err
		}
	}
	return nil
}

// mismatch returns a [*MismatchError] for the first column of a table that
// does not fit, or nil.
func mismatch(table string, want []column, have []actual) error {
	if want == nil {
		return &MismatchError{Table: table, Reason: "it exists already, but not by a migration of nextrun"}
	}
	byName := map[string]actual{}
	for _, a := range have {
		byName[a.name] = a
	}
	for _, w := range want {
		a, exists := byName[w.Name]
		switch {
		case w.ours && exists:
			return &MismatchError{table, w.Name, "it exists already, and nextrun would add a column of that name"}
		case w.ours || w.optional && !exists:
		case !exists:
			return &MismatchError{table, w.Name, "it is missing"}
		case kindOf(a.declared) != w.kind:
			return &MismatchError{table, w.Name, fmt.Sprintf("its type is %s, expected %s", a.declared, w.kind)}
		}
	}
	return unknownOrNull(table, want, have)
}

// unknownOrNull refuses columns that nextrun does not know and an INSERT has to
// fill, and columns that may be NULL where nextrun, like Docspell, reads a value.
func unknownOrNull(table string, want []column, have []actual) error {
	for _, a := range have {
		i := slices.IndexFunc(want, func(w column) bool { return w.Name == a.name })
		if i < 0 && a.notNull && !a.hasDefault {
			return &MismatchError{table, a.name, "nextrun does not know it, and it has neither a default nor may it be NULL"}
		}
	}
	for _, a := range have {
		i := slices.IndexFunc(want, func(w column) bool { return w.Name == a.name })
		if i >= 0 && !a.notNull && !want[i].null && !want[i].ours {
			return &MismatchError{table, a.name, "it may be NULL, and one row in which it is would hold up the others; " +
				"make it NOT NULL (PostgreSQL: ALTER TABLE " + table + " ALTER COLUMN " + a.name + " SET NOT NULL)"}
		}
	}
	return nil
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

// Version returns the version of the database's schema, 0 if there is none.
func (m *Migrator) Version(ctx context.Context) (int64, error) {
	have, err := m.columns(ctx, VersionTable)
	if err != nil || len(have) == 0 {
		return 0, err
	}
	var version sql.NullInt64
	err = m.db.QueryRowContext(ctx, "SELECT max(version_id) FROM "+VersionTable).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return version.Int64, nil
}

// schema is the quoted name of the schema of PostgreSQL in which the tables are.
func (m *Migrator) schema(ctx context.Context) (string, error) {
	if m.dialect == SQLite {
		return "", nil
	}
	var schema sql.NullString
	if err := m.db.QueryRowContext(ctx, "SELECT quote_ident(current_schema())").Scan(&schema); err != nil {
		return "", fmt.Errorf("ask for the schema: %w", err)
	}
	if !schema.Valid {
		return "", errors.New("no schema of the connection's search_path exists; create it, or name another one in the URL (?search_path=...)")
	}
	return schema.String, nil
}
