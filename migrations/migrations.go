// Package migrations creates and removes nextrun's schema.
//
// The SQL lies in postgres/ and sqlite/, a file for each migration, and is run by goose,
// whose version table is nextrun_migration. A file is applied in one transaction
// together with its version and its checksum, so that a crash leaves all of it or
// nothing. Several processes may migrate at once: on PostgreSQL they take turns by an
// advisory lock, on SQLite the loser of a race looks again.
//
// # Databases that have such tables already
//
// Migrations are additive. Before the first change [Migrator.Up] compares the
// tables that it finds with the columns it expects, and on a mismatch changes
// nothing and returns an error that names table and column. What it
// found is recorded in the table nextrun_found, and [Migrator.Down] drops
// nothing that is named there, only what nextrun added.
//
// # Programs of several versions on one database
//
// A program knows the migrations up to a number, its own. Each migration after the first names the oldest number whose programs
// may still run, in a line
//
//	-- oldest: 1
//
// An additive one, such as a new column with a default or a replaced trigger, leaves that number as it was. So a newer
// schema does no harm to an older program, which goes on and may be started again; only one below the
// number is refused, with [ErrNewer].
//
// # Where is what?
//
//	migrations.go           what callers use
//	versions.go             the files, and which programs may run
//	apply.go                the files as they read for a database are applied, and taken back
//	objects.go              what the files make, and so what the way down removes
//	check.go                what of it somebody has dropped
//	expected.go, compare.go whether tables that are there already can be used
//	advice.go               what else check advises: sequences, triggers, rights
package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// versionTable is where goose records the versions that have been applied.
const versionTable = "nextrun_migration"

// ErrOther is returned by all methods of [Migrator] but Version when another schema file
// than that of this program made the database.
var ErrOther = errors.New("this database was made by another version of nextrun before 0.1.0; " +
	"make a new one, and carry your tasks over with `task export` of the old program and `task apply`")

// ErrPending is returned by [Migrator.Check] and [Migrator.CheckVersion] when the
// schema is missing, or older than the program.
var ErrPending = errors.New("the database has no tables of nextrun, or older ones; run: nextrun migrate up")

// ErrNewer is wrapped by the errors of all methods of [Migrator] but Version, when programs of this
// number may not run any more, and by that of Down whenever the database has a newer migration.
var ErrNewer = errors.New("the database's schema is newer than this program")

// Dialect names a database system by its folder of SQL files.
type Dialect string

// The dialects that have migrations.
const (
	Postgres Dialect = "postgres"
	SQLite   Dialect = "sqlite"
)

// Migrator applies the migrations of one database. It is safe for concurrent
// use, also by several processes.
type Migrator struct {
	db      *sql.DB
	dialect Dialect
	files   []file // those of the program, by their versions; the last one's is the program's number
}

// Of returns the migrator of a database, such as a *store.DB.
func Of(db interface {
	Migrations() (pool *sql.DB, system string)
}) *Migrator {
	pool, system := db.Migrations()
	return New(pool, Dialect(system))
}

// New returns a migrator for db, which must be of the given dialect.
func New(db *sql.DB, dialect Dialect) *Migrator { return &Migrator{db, dialect, embedded(dialect)} }

// Applied is a migration that Up or Down has run.
type Applied struct {
	Version int64
	Name    string // of the file
}

// Status is a migration and whether the database has it.
type Status struct {
	Applied
	Done  bool
	Newer bool // the database has it, and this program does not know it
}

// Status lists the migrations that this program knows, and then newer ones that the database has.
func (m *Migrator) Status(ctx context.Context) ([]Status, error) {
	s, err := m.state(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]Status, len(m.files))
	for i, f := range m.files {
		list[i] = Status{Applied: Applied{Version: f.version, Name: f.name}, Done: f.version <= s.version}
	}
	return append(list, m.newer(s)...), nil
}

// Check returns nil if the schema is the one that this program knows, else
// [ErrPending], [ErrOther] or a [*MissingError]. It changes nothing.
func (m *Migrator) Check(ctx context.Context) error {
	if err := m.CheckVersion(ctx); err != nil {
		return err
	}
	list, err := m.Missing(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	return &MissingError{list}
}

// CheckVersion is Check without a look at the single objects of the schema.
func (m *Migrator) CheckVersion(ctx context.Context) error {
	s, err := m.state(ctx)
	if err != nil || s.version >= m.number() {
		return err
	}
	var schema string
	if m.dialect == SQLite || m.db.QueryRowContext(ctx, "SELECT current_schema()").Scan(&schema) != nil {
		return ErrPending
	}
	return fmt.Errorf("schema %s: %w", schema, ErrPending)
}

// Version returns the version of the database's schema, 0 if there is none.
func (m *Migrator) Version(ctx context.Context) (int64, error) {
	var version sql.NullInt64
	err := m.db.QueryRowContext(ctx, "SELECT max(version_id) FROM "+versionTable).Scan(&version)
	if sqlState(err) == "42P01" || err != nil && strings.Contains(err.Error(), "no such table") {
		return 0, nil
	}
	return version.Int64, denied("read the version of the schema", err)
}

// state is what is known of a database.
type state struct {
	version int64           // 0: it has no schema
	found   map[string]bool // what was there before nextrun, as [Migrator.present] names it
}

// state returns [ErrOther] unless this program's files made the schema, if there is one, and [ErrNewer] if this program
// may not run on it.
func (m *Migrator) state(ctx context.Context) (s state, err error) {
	if s.version, err = m.Version(ctx); err != nil {
		return s, err
	}
	if s.version == 0 {
		s.found, err = m.present(ctx)
		return s, err
	}
	if err := m.isFirst(ctx); err != nil {
		return s, err
	}
	if s.found, err = m.recorded(ctx); err == nil {
		err = m.suits(s)
	}
	return s, err
}

// isFirst returns an error if tables of another schema, which comes first in the search_path, would hide those of nextrun.
func (m *Migrator) isFirst(ctx context.Context) error {
	if m.dialect != Postgres {
		return nil
	}
	var first, own string
	err := m.db.QueryRowContext(ctx, "SELECT current_schema(), relnamespace::regnamespace::text FROM pg_class WHERE oid = '"+versionTable+
		"'::regclass AND relnamespace <> current_schema()::regnamespace").Scan(&first, &own)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return denied("look for the schema", err)
	}
	return fmt.Errorf("nextrun's tables are in the schema %s, and the search_path begins with %s; name theirs: --schema %[1]s", own, first)
}

// recorded are the names in nextrun_found.
func (m *Migrator) recorded(ctx context.Context) (map[string]bool, error) {
	rows, err := m.db.QueryContext(ctx, "SELECT name FROM nextrun_found")
	if err != nil {
		return nil, denied("read nextrun_found", err)
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	found := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("read nextrun_found: %w", err)
		}
		found[name] = true
	}
	return found, rows.Err()
}

// denied is an error of a statement, with the remedy if the login lacks a right.
func denied(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case sqlState(err) == "42501": // insufficient privilege
		return fmt.Errorf("%s: %w: %w", what, sqldb.ErrDenied, err)
	}
	return fmt.Errorf("%s: %w", what, err)
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
