package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/migrations/internal/script"
	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// Version returns the version of the database's schema, 0 if there is none.
func (m *Migrator) Version(ctx context.Context) (int64, error) {
	exists, err := tables.Exists(ctx, m.db, m.dialect, versionTable)
	if err != nil {
		return 0, err
	}
	if !exists {
		return 0, m.hidden(ctx, versionTable)
	}
	var version sql.NullInt64
	err = m.db.QueryRowContext(ctx, "SELECT max(version_id) FROM "+versionTable).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return version.Int64, nil
}

// hidden returns an error if the database hides a table of the migrations from a login that
// lacks rights.
func (m *Migrator) hidden(ctx context.Context, table string) error {
	if m.dialect == SQLite {
		return nil
	}
	var schema, role string
	err := m.db.QueryRowContext(ctx, `SELECT quote_ident(n.nspname), quote_ident(current_user)
		FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		JOIN unnest(string_to_array(replace(current_setting('search_path'), '"$user"', current_user), ',')) WITH ORDINALITY AS path (name, n)
		  ON n.nspname = trim(path.name, ' "')
		WHERE c.relname = $1 AND NOT (has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'))
		ORDER BY path.n LIMIT 1`, table).Scan(&schema, &role)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	return fmt.Errorf("%w: role %s may not read the table %s.%s; as its owner run: GRANT USAGE ON SCHEMA %s TO %s; GRANT SELECT ON %s.%s TO %s; "+
		"all that nextrun needs: dist/postgres/roles.sql", errHidden, role, schema, table, schema, role, schema, table, role)
}

// found names what was in the database before nextrun. Before the first migration it is read
// off the database, later off the record.
func (m *Migrator) found(ctx context.Context, version int64) (map[string]bool, error) {
	if version > 0 {
		return recorded(ctx, m.db)
	}
	return tables.Found(ctx, m.db, m.dialect)
}

// recorded names what the first Up has found.
func recorded(ctx context.Context, db *sql.DB) (map[string]bool, error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM nextrun_found")
	if err != nil {
		return nil, fmt.Errorf("read nextrun_found: %w", err)
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	found := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("read nextrun_found: %w", err)
		}
		if !strings.HasPrefix(name, script.MadeBy) {
			found[name] = true
		}
	}
	return found, rows.Err()
}

// schemaOf is the quoted name of the schema of PostgreSQL in which the tables are.
func schemaOf(ctx context.Context, db *sql.DB, dialect Dialect) (string, error) {
	if dialect == SQLite {
		return "", nil
	}
	var schema sql.NullString
	if err := db.QueryRowContext(ctx, "SELECT quote_ident(current_schema())").Scan(&schema); err != nil {
		return "", fmt.Errorf("ask for the schema: %w", err)
	}
	if !schema.Valid {
		return "", errors.New("no schema of the connection's search_path exists; create it, or name another one in the URL (?search_path=...)")
	}
	return schema.String, nil
}
