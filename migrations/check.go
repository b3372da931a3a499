package migrations

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// kind is the class of a column's type, as far as nextrun depends on it.
type kind string

const (
	text      kind = "text"
	integer   kind = "integer"
	boolean   kind = "boolean"
	timestamp kind = "timestamp without time zone"
)

// column is what nextrun expects of a column of a table that it finds.
type column struct {
	Name     string
	kind     kind
	optional bool   // may be absent: nextrun adds it
	null     bool   // may be NULL
	Default  string // set where a column has none (PostgreSQL)
}

// expected are the tables of nextrun's schema that may be there before it, with
// the columns that it expects in them.
var expected = map[string][]column{
	"job": {
		{Name: "jid", kind: text, Default: "gen_random_uuid()::text"},
		{Name: "task", kind: text},
		{Name: "group_", kind: text, Default: "'default'"},
		{Name: "args", kind: text, Default: "'{}'"},
		{Name: "subject", kind: text, Default: "''"},
		{Name: "submitted", kind: timestamp, Default: "(clock_timestamp() AT TIME ZONE 'UTC')"},
		{Name: "submitter", kind: text, Default: "'nextrun'"},
		{Name: "priority", kind: integer, Default: "0"},
		{Name: "state", kind: text, Default: "'waiting'"},
		{Name: "retries", kind: integer, Default: "0"},
		{Name: "progress", kind: integer, Default: "0"},
		{Name: "tracker", kind: text, null: true},
		{Name: "worker", kind: text, null: true},
		{Name: "started", kind: timestamp, null: true},
		{Name: "startedmillis", kind: integer, null: true},
		{Name: "finished", kind: timestamp, null: true},
	},
	"joblog": {
		{Name: "id", kind: text},
		{Name: "jid", kind: text},
		{Name: "level", kind: text},
		{Name: "created", kind: timestamp},
		{Name: "message", kind: text},
		{Name: "counter", kind: integer, optional: true, null: true},
	},
	"jobgroupuse": {
		{Name: "groupid", kind: text},
		{Name: "workerid", kind: text},
	},
	"periodic_task": {
		{Name: "id", kind: text},
		{Name: "enabled", kind: boolean, Default: "true"},
		{Name: "task", kind: text},
		{Name: "group_", kind: text, Default: "'default'"},
		{Name: "args", kind: text, Default: "'{}'"},
		{Name: "subject", kind: text, Default: "''"},
		{Name: "submitter", kind: text, Default: "'nextrun'"},
		{Name: "priority", kind: integer, Default: "0"},
		{Name: "worker", kind: text, null: true},
		{Name: "marked", kind: timestamp, null: true},
		{Name: "timer", kind: text},
		{Name: "nextrun", kind: timestamp, Default: "'1970-01-01 00:00:00'"},
		{Name: "created", kind: timestamp, Default: "(clock_timestamp() AT TIME ZONE 'UTC')"},
		{Name: "summary", kind: text, optional: true, null: true},
	},
	"scheduler_lock": {
		{Name: "name", kind: text},
		{Name: "holder", kind: text},
		{Name: "hostname", kind: text},
		{Name: "pid", kind: integer},
		{Name: "token", kind: integer},
		{Name: "acquired", kind: timestamp},
		{Name: "heartbeat", kind: timestamp},
		{Name: "expires", kind: timestamp},
	},
}

// expectedColumn is what nextrun expects of a column, or nil of one that it does not know.
func expectedColumn(table, name string) *column {
	for i, c := range expected[table] {
		if c.Name == name {
			return &expected[table][i]
		}
	}
	return nil
}

// kindOf classes a type as PostgreSQL's information_schema or a SQLite
// declaration names it. Unknown types are returned as they are.
func kindOf(declared string) kind {
	name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(declared)), "(")
	switch strings.TrimSpace(name) {
	case "character varying", "varchar", "text":
		return text
	case "integer", "int", "bigint", "int4", "int8":
		return integer
	case "boolean", "bool":
		return boolean
	case "timestamp without time zone", "timestamp", "datetime":
		return timestamp
	}
	return kind(declared)
}

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
