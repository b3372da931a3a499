// Package ownschema creates a schema of PostgreSQL for nextrun's tables.
package ownschema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Mark is the comment of a schema that nextrun has created. `nextrun migrate down` removes a
// schema with it, once it is empty.
const Mark = "created by nextrun migrate up"

// Lock is the key of the advisory lock under which PostgreSQL migrates.
const Lock int64 = 0x6e65787472756e // "nextrun"

// Create creates a schema of PostgreSQL for nextrun's tables, if there is none
// of that name.
func Create(ctx context.Context, db *sql.DB, name string) error {
	if name == "information_schema" {
		return errors.New("the schema information_schema is PostgreSQL's own; name another one")
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing to undo after a commit
	// Others who create it at once take turns.
	var quoted string
	var exists bool
	err = tx.QueryRowContext(ctx, `SELECT quote_ident($1), EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)
		FROM pg_advisory_xact_lock($2)`, name, Lock).Scan(&quoted, &exists)
	if err != nil || exists {
		return err
	}
	for _, statement := range []string{"CREATE SCHEMA " + quoted, "COMMENT ON SCHEMA " + quoted + " IS '" + Mark + "'"} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("create the schema %s: %w; or have somebody who may do so run: CREATE SCHEMA %s AUTHORIZATION (this role)",
				quoted, err, quoted)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("create the schema %s: %w", quoted, err)
	}
	return nil
}
