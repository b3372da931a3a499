package sqldb

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/nextrun/nextrun/migrations"
)

// schemaName is what a schema of nextrun's own may be called: names that mean the same
// with and without quotes, since people write them in SQL, too.
var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// schemaParameter is the parameter of a database URL that names the schema. The
// server does not get it.
const schemaParameter = "schema"

// validSchema checks the name of a schema, which may be empty.
func validSchema(name string) error {
	switch {
	case name == "":
		return nil
	case !schemaName.MatchString(name):
		return fmt.Errorf("the schema %q: use lower-case letters, digits and _, 63 characters at most, beginning with a letter", name)
	case strings.HasPrefix(name, "pg_"):
		return fmt.Errorf("the schema %q: PostgreSQL keeps names that begin with pg_ for itself", name)
	}
	return nil
}

// noSchema refuses the option where there are no schemas.
func (o Options) noSchema() error {
	if o.Schema != "" {
		return errors.New("SQLite has no schemas: leave out --schema (NEXTRUN_SCHEMA, store.Options.Schema), " +
			"and give nextrun a file of its own instead")
	}
	return nil
}

// settleSchema takes the schema from the options, or else from the URL, and has the
// URL show it.
func (db *DB) settleSchema() error {
	query := db.location.url.Query()
	if db.options.Schema == "" {
		db.options.Schema = query.Get(schemaParameter)
	}
	if db.options.Schema == "" {
		return nil
	}
	if err := validSchema(db.options.Schema); err != nil {
		return err
	}
	query.Set(schemaParameter, db.options.Schema)
	u := *db.location.url
	u.RawQuery = query.Encode()
	db.location.url = &u
	return nil
}

// quoteSchema makes an identifier of a name that validSchema has allowed.
func quoteSchema(name string) string { return `"` + name + `"` }

// findSchema checks that the tables are, or can be made, in the schema of the options.
func (db *DB) findSchema(ctx context.Context) error {
	schema := db.options.Schema
	if schema == "" || db.words.dialect != migrations.Postgres {
		return nil
	}
	pool := sqlx.NewDb(db.migrate, "")
	var is struct {
		Current string
		Exists  bool
	}
	const query = "SELECT coalesce(current_schema(), '') AS current, EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1) AS exists"
	if err := pool.GetContext(ctx, &is, query, schema); err != nil {
		return db.classify(ctx, err)
	}
	switch {
	case is.Current == schema:
		return nil
	case !is.Exists && db.options.Create:
		return migrations.CreateSchema(ctx, db.migrate, schema)
	case !is.Exists:
		return fmt.Errorf("%w; there is no schema %s", ErrNoSchema, quoteSchema(schema))
	case len(db.closers) == 0:
		return fmt.Errorf("the connections of the pool use the schema %q; let their search_path begin with %s, in the DSN or by "+
			"ALTER ROLE ... SET search_path", is.Current, quoteSchema(schema))
	}
	return fmt.Errorf("this role may not use the schema %[1]s; have its owner run: GRANT USAGE ON SCHEMA %[1]s TO (this role); "+
		"to run migrate up it also needs CREATE",
		quoteSchema(schema))
}
