package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ownSchema is the comment of a schema that nextrun has created. Down removes a schema
// with it.
const ownSchema = "created by nextrun migrate up"

// CreateSchema creates a schema of PostgreSQL for nextrun's tables, if there is none
// of that name. [Migrator.Down] removes it again once it is empty.
func CreateSchema(ctx context.Context, db *sql.DB, name string) error {
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
		FROM pg_advisory_xact_lock($2)`, name, lockID).Scan(&quoted, &exists)
	if err != nil || exists {
		return err
	}
	for _, statement := range []string{"CREATE SCHEMA " + quoted, "COMMENT ON SCHEMA " + quoted + " IS '" + ownSchema + "'"} {
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

// dropOwnSchema removes the schema if [CreateSchema] has created it and nothing is in
// it any more. It returns the name, empty if the schema stays.
func dropOwnSchema(ctx context.Context, db *sql.DB, dialect Dialect) (string, error) {
	if dialect != Postgres {
		return "", nil
	}
	var name string
	err := db.QueryRowContext(ctx, `SELECT quote_ident(nspname) FROM pg_namespace
		WHERE oid = current_schema()::regnamespace AND obj_description(oid, 'pg_namespace') = $1`, ownSchema).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for the schema: %w", err)
	}
	_, err = db.ExecContext(ctx, "DROP SCHEMA "+name)
	if sqlState(err) == "2BP01" { // somebody else has something in it
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("drop the schema %s: %w", name, err)
	}
	return name, nil
}

// sqlState is the code of an error that PostgreSQL has sent, whatever the driver.
func sqlState(err error) string {
	var sent interface {
		error
		SQLState() string
	}
	if errors.As(err, &sent) {
		return sent.SQLState()
	}
	return ""
}
