package migrations

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// MissingError is returned by [Migrator.Check] when somebody has dropped a part of the schema.
type MissingError struct{ Objects []Object }

// Error names what is missing, and how to see the statements that make it.
func (e *MissingError) Error() string {
	list := make([]string, len(e.Objects))
	for i, o := range e.Objects {
		list[i] = o.String()
	}
	return "missing in the database's schema: " + strings.Join(list, ", ") + "; nextrun migrate status prints the statements that make it"
}

// Breaks reports whether a table or a column is missing, so that statements of
// nextrun fail.
func (e *MissingError) Breaks() bool {
	return slices.ContainsFunc(e.Objects, func(o Object) bool { return o.Kind == kindTable || o.Kind == kindColumn })
}

// Missing lists what the schema file makes and the database lacks, without what belongs to a
// table that is missing itself. It knows names only: what is there, but different, it does not see.
func (m *Migrator) Missing(ctx context.Context) (list []Object, err error) {
	want, err := m.wants(ctx)
	if err != nil || len(want) == 0 {
		return nil, err
	}
	have, err := m.has(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range want {
		member := o.Kind != kindTable && o.Table != "" && o.Table != o.Name
		if !have[key(o)] && (!member || have[key(Object{Kind: kindTable, Table: o.Table, Name: o.Table})]) {
			list = append(list, o)
		}
	}
	return list, nil
}

func key(o Object) string { return o.Kind + " " + o.Table + " " + o.Name }

// wants lists what the files make of this database, nothing if there is no schema.
func (m *Migrator) wants(ctx context.Context) (list []Object, err error) {
	s, err := m.state(ctx)
	if err != nil || s.version == 0 {
		return nil, err
	}
	for _, f := range m.files {
		if f.version > s.version {
			break
		}
		text, err := m.render(ctx, f, s.found)
		if err != nil {
			return nil, err
		}
		list = append(list, objectsOf(text)...)
	}
	return list, nil
}

// inventory lists kind, table and name of all objects of the schema.
var inventory = map[Dialect]string{
	Postgres: `
WITH relation AS (
  SELECT c.* FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = current_schema())
SELECT CASE relkind WHEN 'v' THEN 'view' ELSE 'table' END, relname, relname FROM relation WHERE relkind IN ('r', 'p', 'v')
UNION ALL
SELECT 'column', relname, attname FROM relation JOIN pg_attribute ON attrelid = relation.oid WHERE attnum > 0 AND NOT attisdropped
UNION ALL
SELECT 'index', relation.relname, i.relname FROM relation JOIN pg_index ON indrelid = relation.oid JOIN pg_class AS i ON i.oid = indexrelid
UNION ALL
SELECT 'trigger', relname, tgname FROM relation JOIN pg_trigger ON tgrelid = relation.oid AND NOT tgisinternal
UNION ALL
SELECT 'function', '', proname FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE n.nspname = current_schema()`,
	SQLite: `
SELECT type, tbl_name, name FROM sqlite_schema
UNION ALL
SELECT 'column', s.name, c.name FROM sqlite_schema AS s JOIN pragma_table_xinfo(s.name) AS c WHERE s.type = 'table'`,
}

// has are the keys of what the database has.
func (m *Migrator) has(ctx context.Context) (map[string]bool, error) {
	rows, err := m.db.QueryContext(ctx, inventory[m.dialect])
	if err != nil {
		return nil, fmt.Errorf("inspect the schema: %w", err)
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	have := map[string]bool{}
	for rows.Next() {
		var o Object
		if err := rows.Scan(&o.Kind, &o.Table, &o.Name); err != nil {
			return nil, fmt.Errorf("inspect the schema: %w", err)
		}
		have[strings.ToLower(key(o))] = true // SQLite compares names so
	}
	return have, rows.Err()
}
