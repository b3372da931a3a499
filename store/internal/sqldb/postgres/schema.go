package postgres

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/nextrun/nextrun/internal/dburl"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// schemaParameter is the parameter of a database URL that names the schema. The
// server does not get it.
const schemaParameter = "schema"

// settleSchema takes the schema from the options, or else from the URL, and has the
// URL show it.
func settleSchema(o sqldb.Options, u dburl.URL) (sqldb.Options, dburl.URL, error) {
	query := u.Postgres.Query()
	if o.Schema == "" {
		o.Schema = query.Get(schemaParameter)
	}
	if o.Schema == "" {
		return o, u, nil
	}
	if err := sqldb.ValidSchema(o.Schema); err != nil {
		return o, u, err
	}
	query.Set(schemaParameter, o.Schema)
	settled := *u.Postgres
	settled.RawQuery = query.Encode()
	u.Postgres = &settled
	return o, u, nil
}

// quoteSchema makes an identifier of a name that ValidSchema has allowed.
func quoteSchema(name string) string { return `"` + name + `"` }

// findSchema checks that the tables are, or can be made, in the schema of the options.
// opened says that the connections are nextrun's own.
func findSchema(ctx context.Context, db *sqldb.DB, pool *sql.DB, o sqldb.Options, opened bool) error {
	schema := o.Schema
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
		return migrations.CreateSchema(ctx, pool, schema)
	case !exists:
		return fmt.Errorf("%w; there is no schema %s", sqldb.ErrNoSchema, quoteSchema(schema))
	case !opened:
		return fmt.Errorf("the connections of the pool use the schema %q; let their search_path begin with %s, in the DSN or by "+
			"ALTER ROLE ... SET search_path", current, quoteSchema(schema))
	}
	return fmt.Errorf("this role may not use the schema %[1]s; have its owner run: GRANT USAGE ON SCHEMA %[1]s TO (this role); "+
		"to run migrate up it also needs CREATE",
		quoteSchema(schema))
}
