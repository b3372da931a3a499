// Package migrations creates and removes nextrun's schema.
//
// The SQL lies in postgres/ and sqlite/, one file in each, and is run by goose,
// whose version table is nextrun_migration. The file is applied in one transaction
// together with its version and its checksum, so that a crash leaves the schema or
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
// # Where is what?
//
//	migrations.go       what callers use
//	apply.go            the file is applied
//	down.go             what is removed, and what is kept
//	record.go           version, schema, and what was there before nextrun
//	check.go            what somebody has dropped
//	internal/tables     the columns that nextrun expects in tables that it finds
//	strangers.go        what others do with nextrun's tables
//	internal/script     the SQL files as texts, and what they create; knows no connection
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"

	"github.com/nextrun/nextrun/migrations/internal/script"
	"github.com/nextrun/nextrun/migrations/internal/tables"
)

//go:embed postgres/*.sql sqlite/*.sql
var files embed.FS

// versionTable is where goose records the versions that have been applied.
const versionTable = "nextrun_migration"

// ErrOther is returned by all methods of [Migrator] but Version when another schema file
// than that of this program made the database.
var ErrOther = errors.New("this database was made by another version of nextrun before its first release; " +
	"make a new one, and carry your tasks over with `task export` of the old program and `task apply`")

// ErrPending is returned by [Migrator.Check] and [Migrator.CheckVersion] when the
// schema is missing.
var ErrPending = errors.New("the database has no tables of nextrun; run: nextrun migrate up")

// errHidden is returned by all that reads the version of the schema when the login lacks
// the right to read it.
var errHidden = errors.New("the version of the database's schema is not known")

// Dialect names a database system by its folder of SQL files.
type Dialect = tables.Dialect

// The dialects that have migrations.
const (
	Postgres = tables.Postgres
	SQLite   = tables.SQLite
)

// Migrator applies the migrations of one database. It is safe for concurrent
// use, also by several processes.
type Migrator struct {
	db      *sql.DB
	dialect Dialect
	source  script.Source
}

// Of returns the migrator of a database, such as a *store.DB.
func Of(db interface {
	Migrations() (pool *sql.DB, system string)
}) *Migrator {
	pool, system := db.Migrations()
	return New(pool, Dialect(system))
}

// New returns a migrator for db, which must be of the given dialect.
func New(db *sql.DB, dialect Dialect) *Migrator {
	return &Migrator{db: db, dialect: dialect, source: script.Source{FS: files, Dialect: dialect}}
}

// Applied is a migration that Up or Down has run.
type Applied struct {
	Version int64
	Name    string // of the file
}

// Status is one known migration and whether the database has it.
type Status struct {
	Applied
	Done bool
}

// Status lists the known migrations.
func (m *Migrator) Status(ctx context.Context) ([]Status, error) {
	version, err := m.ours(ctx)
	if err != nil {
		return nil, err
	}
	return []Status{{Applied: Applied{Version: script.Version, Name: script.Name}, Done: version > 0}}, nil
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
	version, err := m.ours(ctx)
	if err == nil && version == 0 {
		err = ErrPending
	}
	return err
}

// ours is [Migrator.Version]. It returns [ErrOther] unless this program's file made the schema.
func (m *Migrator) ours(ctx context.Context) (int64, error) {
	version, err := m.Version(ctx)
	if err != nil || version == 0 {
		return 0, err
	}
	file, err := m.source.Made()
	if err != nil {
		return 0, err
	}
	var made bool
	err = m.db.QueryRowContext(ctx, "SELECT count(*) > 0 FROM nextrun_found WHERE name = $1", file).Scan(&made)
	if sqlState(err) == "42501" { // insufficient privilege
		err = m.hidden(ctx, "nextrun_found")
	}
	if err != nil {
		return 0, fmt.Errorf("read nextrun_found: %w", err)
	}
	if !made {
		return 0, ErrOther
	}
	return version, nil
}
