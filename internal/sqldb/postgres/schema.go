package postgres

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/ownschema"
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
		return ownschema.Create(ctx, pool, schema)
	case !exists:
		return fmt.Errorf("%w; there is no schema %s", sqldb.ErrNoSchema, QuoteSchema(schema))
	case s.Lent:
		return fmt.Errorf("the connections of the pool use the schema %q; let their search_path begin with %s, in the DSN or by "+
			"ALTER ROLE ... SET search_path", current, QuoteSchema(schema))
	}
	return fmt.Errorf("this role may not use the schema %[1]s; have its owner run: GRANT USAGE ON SCHEMA %[1]s TO (this role); "+
		"to run migrate up it also needs CREATE",
		QuoteSchema(schema))
}
