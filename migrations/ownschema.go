package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/nextrun/nextrun/internal/ownschema"
)

// dropOwnSchema removes the schema if nextrun has created it and nothing is in
// it any more. It returns the name, empty if the schema stays.
func dropOwnSchema(ctx context.Context, db *sql.DB, dialect Dialect) (string, error) {
	if dialect != Postgres {
		return "", nil
	}
	var name string
	err := db.QueryRowContext(ctx, `SELECT quote_ident(nspname) FROM pg_namespace
		WHERE oid = current_schema()::regnamespace AND obj_description(oid, 'pg_namespace') = $1`, ownschema.Mark).Scan(&name)
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
