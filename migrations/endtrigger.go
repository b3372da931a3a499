package migrations

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// The statements that remove the triggers that write to periodic_open when a job of
// another queue ends, and then their functions. Those tables may be in any schema.
const (
	dropEndPostgres = `
SELECT text FROM (
  SELECT 1, t.tgname, format('DROP TRIGGER %I ON %s;', t.tgname, t.tgrelid::regclass)
    FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
   WHERE NOT t.tgisinternal AND p.pronamespace = current_schema()::regnamespace AND p.proname LIKE 'nextrun\_ended\_%'
  UNION ALL
  SELECT 2, proname, format('DROP FUNCTION %s;', oid::regprocedure)
    FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'nextrun\_ended\_%'
) AS statement (rank, name, text) ORDER BY rank, name, text`

	dropEndSQLite = `
SELECT 'DROP TRIGGER "' || name || '";' FROM sqlite_schema
 WHERE type = 'trigger' AND name LIKE 'nextrun\_ended\_%' ESCAPE '\' ORDER BY name`
)

// withoutEndTriggers returns an error while a trigger on a table of another queue
// writes to periodic_open. Without that table no job of that queue could end.
func withoutEndTriggers(ctx context.Context, db *sql.DB, dialect Dialect) error {
	query := dropEndPostgres
	if dialect == SQLite {
		query = dropEndSQLite
	}
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("look for triggers on other queues: %w", err)
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	var drop []string
	for rows.Next() {
		var statement string
		if err := rows.Scan(&statement); err != nil {
			return fmt.Errorf("look for triggers on other queues: %w", err)
		}
		drop = append(drop, statement)
	}
	if err := rows.Err(); err != nil || len(drop) == 0 {
		return err
	}
	return fmt.Errorf("triggers on the tables of other queues need the table periodic_open; nothing was changed. "+
		"Run: %s", strings.Join(drop, " "))
}
