package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/fstest"
	"text/template"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// maxDeadlocks is how often Up or Down begins again because of a deadlock.
const maxDeadlocks = 10

// Up applies the migrations that the database lacks. It returns what it did, nothing if there was nothing to do.
// It returns [ErrOther], or an error that names what does not fit, before it has changed anything.
// It repairs nothing: see [Migrator.Missing].
func (m *Migrator) Up(ctx context.Context) ([]Applied, error) {
	s, err := m.state(ctx)
	if err != nil || s.version >= m.number() {
		return nil, err
	}
	if s.version == 0 {
		err = m.compare(ctx)
	}
	var done []Applied
	if err == nil {
		done, err = m.run(ctx, s.found, func(p *goose.Provider) ([]*goose.MigrationResult, error) { return p.Up(ctx) })
	}
	if err != nil {
		if version, verr := m.Version(ctx); verr == nil && version >= m.number() {
			return nil, nil // another process has migrated meanwhile
		}
		return nil, fmt.Errorf("migrate up: %w%s", err, m.remedy(err))
	}
	return done, nil
}

// remedy is what to do about an error; empty: nothing is known.
func (m *Migrator) remedy(err error) string {
	if sqlState(err) != "42501" {
		return ""
	}
	return "; have the owner of the schema run nextrun migrate up, or grant this role CREATE on it: see docs/permissions.md"
}

// run lets goose work with the files as they read for this database.
func (m *Migrator) run(ctx context.Context, found map[string]bool, work func(*goose.Provider) ([]*goose.MigrationResult, error)) (done []Applied, err error) {
	p, err := m.provider(ctx, found)
	if err != nil {
		return nil, err
	}
	for deadlocks := 0; ; deadlocks++ {
		results, err := work(p)
		for _, r := range results {
			done = append(done, Applied{Version: r.Source.Version, Name: r.Source.Path})
		}
		// A running scheduler may lock the tables in another order. Nothing was committed then.
		if sqlState(err) != "40P01" || deadlocks == maxDeadlocks {
			return done, err
		}
	}
}

func (m *Migrator) provider(ctx context.Context, found map[string]bool) (*goose.Provider, error) {
	texts := fstest.MapFS{}
	for _, f := range m.files {
		text, err := m.render(ctx, f, found)
		if err != nil {
			return nil, err
		}
		texts[f.name] = &fstest.MapFile{Data: []byte(text)}
	}
	options := []goose.ProviderOption{goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true)}
	dialect := goose.DialectSQLite3
	if m.dialect == Postgres {
		dialect = goose.DialectPostgres
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(sqldb.MigrationLock), lock.WithLockTimeout(1, 300))
		if err != nil {
			return nil, fmt.Errorf("migration lock: %w", err)
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(dialect, m.db, texts, options...)
	if err != nil {
		return nil, fmt.Errorf("open migrations: %w", err)
	}
	return p, nil
}

// render returns a file as it reads for this database, given what was found in it, with the statements on the way down
// that remove what it creates. It is a template (text/template):
//
//	schema                  the schema of PostgreSQL, quoted
//	file                    the name in nextrun_found of the file that makes the schema
//	found "job"             the table was there before nextrun
//	found "joblog.counter"  so was that column
//	foundNames              all such names
//	withoutDefault "job"    expected columns that have no default of their own
func (m *Migrator) render(ctx context.Context, f file, found map[string]bool) (string, error) {
	schema, err := m.schema(ctx)
	if err != nil {
		return "", err
	}
	parsed, err := template.New(f.name).Funcs(template.FuncMap{
		"schema":     func() string { return schema },
		"file":       f.madeBy,
		"found":      func(name string) bool { return found[name] },
		"foundNames": func() []string { return slices.Sorted(maps.Keys(found)) },
		"withoutDefault": func(table string) []column {
			return slices.DeleteFunc(slices.Clone(expected[table]), func(c column) bool {
				return c.Default == "" || found[table+"."+c.Name+" default"]
			})
		},
	}).Parse(strings.Replace(f.text, "-- +goose Up\n", "-- +goose Up\n"+f.record(), 1))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", f.name, err)
	}
	var filled strings.Builder
	if err := parsed.Execute(&filled, nil); err != nil {
		return "", fmt.Errorf("fill in %s: %w", f.name, err)
	}
	return filled.String() + drops(objectsOf(filled.String()), m.dialect), nil
}

// schema is the quoted name of the schema of PostgreSQL in which the tables are.
func (m *Migrator) schema(ctx context.Context) (string, error) {
	if m.dialect == SQLite {
		return "", nil
	}
	var schema sql.NullString
	if err := m.db.QueryRowContext(ctx, "SELECT quote_ident(current_schema())").Scan(&schema); err != nil {
		return "", fmt.Errorf("ask for the schema: %w", err)
	}
	if !schema.Valid {
		return "", errors.New("no schema of the connection's search_path exists; create it, or name another one in the URL (?search_path=...)")
	}
	return schema.String, nil
}

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
	if s.version > m.number() {
		return nil, fmt.Errorf("%w: it has migration %d, and this program knows %d; remove it with the program that made it", ErrNewer, s.version, m.number())
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
