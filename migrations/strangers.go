package migrations

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// beforeTriggers are the triggers that run before a row is written: their names, tables and texts. Triggers of
// SQLite that do not say when run before it.
var beforeTriggers = map[Dialect]string{
	Postgres: `SELECT t.tgname::text, c.relname::text, '' FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
		WHERE NOT t.tgisinternal AND t.tgtype & 2 <> 0 AND c.relnamespace = current_schema()::regnamespace ORDER BY 2, 1`,
	SQLite: `SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY 2, 1`,
}

// Concerns returns sentences about what strangers do, or may do, with nextrun's tables, each with its remedy: see
// [Migrator.Creators]; triggers that run before nextrun's rows are written; and, on PostgreSQL, an
// encoding that lets in what is no text.
func (m *Migrator) Concerns(ctx context.Context) ([]string, error) {
	var list []string
	creators, err := m.Creators(ctx)
	if err != nil {
		return nil, err
	}
	if creators != "" {
		list = append(list, creators)
	}
	if m.dialect == Postgres {
		var encoding string
		if err := m.db.QueryRowContext(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
			return nil, fmt.Errorf("ask for the encoding of the database: %w", err)
		}
		if encoding == "SQL_ASCII" {
			list = append(list, "the database has the encoding SQL_ASCII, which takes bytes that are no text: one row with such bytes can stop the work on all others; "+
				"dump the data, and restore it into a database made WITH ENCODING 'UTF8' TEMPLATE template0")
		}
	}
	triggers, err := m.strangeTriggers(ctx)
	return append(list, triggers...), err
}

// strangeTriggers names the triggers before writes to nextrun's tables that are not nextrun's.
func (m *Migrator) strangeTriggers(ctx context.Context) (list []string, err error) {
	ours, err := m.adds()
	if err != nil {
		return nil, err
	}
	for table := range tables.All {
		ours[table] = true
	}
	rows, err := m.db.QueryContext(ctx, beforeTriggers[m.dialect])
	if err != nil {
		return nil, fmt.Errorf("look for triggers: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name, table, text string
		if err := rows.Scan(&name, &table, &text); err != nil {
			return nil, fmt.Errorf("look for triggers: %w", err)
		}
		head, _, _ := strings.Cut(strings.ToUpper(text), "BEGIN")
		if !strings.HasPrefix(name, "nextrun_") && ours[table] && !slices.Contains(strings.Fields(head), "AFTER") {
			list = append(list, fmt.Sprintf("the trigger %s on %s runs before rows are written, and is not nextrun's: if it drops or changes "+
				"what nextrun writes, jobs may be late or lost without an error; let it run AFTER, or make sure that it does neither", name, table))
		}
	}
	return list, rows.Err()
}

// Creators returns a sentence about the roles that may create objects in nextrun's schema
// although they do not own its tables, with the remedy; empty if there are none. PUBLIC is
// everybody. An operator or function that they make there can be run by nextrun's
// statements, with the rights of its login. Superusers and the owner of the schema are left out.
func (m *Migrator) Creators(ctx context.Context) (string, error) {
	if m.dialect == SQLite {
		return "", nil
	}
	var schema, roles string
	err := m.db.QueryRowContext(ctx, `SELECT coalesce(min(quote_ident(n.nspname)), ''),
		  coalesce(string_agg(CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END, ', ' ORDER BY g.grantee), '')
		FROM pg_namespace AS n, aclexplode(n.nspacl) AS g
		WHERE n.nspname = current_schema() AND g.privilege_type = 'CREATE' AND g.grantee <> n.nspowner
		  AND g.grantee <> coalesce((SELECT relowner FROM pg_class WHERE relnamespace = n.oid AND relname = $1), 0::oid)
		  AND NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.oid = g.grantee AND r.rolsuper)`, versionTable).Scan(&schema, &roles)
	if err != nil {
		return "", fmt.Errorf("ask who may create in the schema: %w", err)
	}
	if roles == "" {
		return "", nil
	}
	return fmt.Sprintf("%s may create objects in the schema %s, and so make nextrun's statements run functions of theirs; "+
		"unless you trust them, run as its owner: REVOKE CREATE ON SCHEMA %s FROM %s", roles, schema, schema, roles), nil
}
