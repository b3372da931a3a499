package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pressly/goose/v3"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Down removes everything that nextrun has added, and nothing else. While triggers that end
// waits (docs/queues.md) are on tables of other queues it changes nothing, and returns
// an error that says how to remove them.
func (m *Migrator) Down(ctx context.Context) ([]Applied, error) {
	done, err := m.down(ctx)
	if err != nil {
		err = fmt.Errorf("migrate down: %w", err)
	}
	return done, err
}

func (m *Migrator) down(ctx context.Context) ([]Applied, error) {
	if err := m.withoutEndTriggers(ctx); err != nil {
		return nil, err
	}
	s, err := m.state(ctx)
	if err != nil {
		return nil, err
	}
	done, err := m.run(ctx, s.found, func(p *goose.Provider) ([]*goose.MigrationResult, error) { return p.DownTo(ctx, 0) })
	if err != nil {
		return done, err
	}
	if _, err := m.db.ExecContext(ctx, "DROP TABLE "+versionTable); err != nil {
		return done, fmt.Errorf("drop %s: %w", versionTable, err)
	}
	schema, err := m.dropOwnSchema(ctx)
	if schema != "" {
		done = append(done, Applied{Name: "schema " + schema})
	}
	return done, err
}

// Keeps lists the tables that were there before nextrun, by name: [Migrator.Down]
// leaves them and their rows, and removes only what nextrun added to them.
func (m *Migrator) Keeps(ctx context.Context) ([]string, error) {
	s, err := m.state(ctx)
	if err != nil || s.version == 0 {
		return nil, err
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.found)), func(name string) bool { return expected[name] == nil }), nil
}

// dropEnd are the statements that remove the triggers that write to periodic_open when a job of
// another queue ends. Those tables may be in any schema.
var dropEnd = map[Dialect]string{
	Postgres: `SELECT coalesce(string_agg(format('DROP FUNCTION %s CASCADE;', oid::regprocedure), ' ' ORDER BY proname), '') FROM pg_proc
		WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'nextrun\_ended\_%'`,
	SQLite: `SELECT coalesce(group_concat('DROP TRIGGER "' || name || '";', ' '), '') FROM sqlite_schema
		WHERE type = 'trigger' AND name LIKE 'nextrun\_ended\_%' ESCAPE '\'`,
}

// withoutEndTriggers returns an error while a trigger on a table of another queue
// writes to periodic_open. Without that table no job of that queue could end.
func (m *Migrator) withoutEndTriggers(ctx context.Context) error {
	var drop string
	if err := m.db.QueryRowContext(ctx, dropEnd[m.dialect]).Scan(&drop); err != nil {
		return fmt.Errorf("look for triggers on other queues: %w", err)
	}
	if drop != "" {
		return fmt.Errorf("triggers on the tables of other queues need the table periodic_open; nothing was changed. Run: %s", drop)
	}
	return nil
}

// dropOwnSchema removes the schema if nextrun has created it and nothing is in
// it any more. It returns the name, empty if the schema stays.
func (m *Migrator) dropOwnSchema(ctx context.Context) (name string, err error) {
	if m.dialect == SQLite {
		return "", nil
	}
	err = m.db.QueryRowContext(ctx, `SELECT quote_ident(nspname) FROM pg_namespace
		WHERE oid = current_schema()::regnamespace AND obj_description(oid, 'pg_namespace') = $1`, sqldb.SchemaMark).Scan(&name)
	if err == nil {
		_, err = m.db.ExecContext(ctx, "DROP SCHEMA "+name)
	}
	switch {
	case errors.Is(err, sql.ErrNoRows), sqlState(err) == "2BP01": // somebody else has something in it
		return "", nil
	case err != nil:
		return "", fmt.Errorf("drop the schema %s: %w", name, err)
	}
	return name, nil
}
