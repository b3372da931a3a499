package postgres

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// QuoteSchema makes an identifier of a name that ValidSchema has allowed.
func QuoteSchema(name string) string { return `"` + name + `"` }

// findSchema checks that the tables are, or can be made, in the schema of the options.
func findSchema(ctx context.Context, db *sqldb.DB, s Server, o sqldb.Options) error {
	schema, pool := o.Schema, s.Migrate
	if schema == "" {
		return nil
	}
	var current string
	var exists bool
	const query = "SELECT coalesce(current_schema(), ''), EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)"
	if err := pool.QueryRowContext(ctx, query, schema).Scan(&current, &exists); err != nil {
		return db.Classify(ctx, err)
	}
	switch {
	case current == schema:
		return nil
	case !exists && o.Create:
		return createSchema(ctx, pool, schema)
	case !exists:
		return noSchemaError(schema)
	case s.Lent:
		return fmt.Errorf("the connections of the pool use the schema %q; let their search_path begin with %s, in the DSN or by "+
			"ALTER ROLE ... SET search_path", current, QuoteSchema(schema))
	}
	return fmt.Errorf("this role may not use the schema %[1]s; have its owner run: GRANT USAGE ON SCHEMA %[1]s TO (this role); "+
		"to run migrate up it also needs CREATE",
		QuoteSchema(schema))
}

// noSchemaError is the error of a schema that is not there.
type noSchemaError string

func (s noSchemaError) Error() string {
	return fmt.Sprintf("there is no schema %s; run: nextrun migrate up --schema %s", QuoteSchema(string(s)), string(s))
}

// Unwrap says which error it is.
func (noSchemaError) Unwrap() error { return sqldb.ErrNoSchema }

// createSchema creates a schema. Others who create it at once take turns.
func createSchema(ctx context.Context, pool *sql.DB, schema string) error {
	quoted := QuoteSchema(schema)
	_, err := pool.ExecContext(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d); CREATE SCHEMA IF NOT EXISTS %s; COMMENT ON SCHEMA %[2]s IS '%s'",
		sqldb.MigrationLock, quoted, sqldb.SchemaMark))
	if err != nil {
		return fmt.Errorf("create the schema %s: %w; or have somebody who may do so run: CREATE SCHEMA %[1]s AUTHORIZATION (this role)", quoted, err)
	}
	return nil
}
