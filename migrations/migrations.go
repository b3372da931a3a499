// Package migrations creates, upgrades and removes nextrun's schema.
//
// The SQL lies in postgres/ and sqlite/ under the same file names and is run
// by goose, whose version table is nextrun_migration. Each file is applied in
// a transaction of its own together with its version, so that a crash leaves
// the schema at one version or the other. Several processes may migrate at
// once: on PostgreSQL they take turns by an advisory lock, on SQLite the loser
// of a race looks again.
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
//	apply.go            the files are applied and taken back
//	down.go             what an interrupted Down leaves
//	record.go           version, schema, and what was there before nextrun
//	drift.go, repair.go differences from what this version expects, and their repair
//	parts.go            a database without the tables of jobs, and how they are added
//	partitioned.go      a periodic_tick with partitions is refused
//	internal/tables     the columns that nextrun expects in tables that it finds
//	internal/script     the SQL files as texts; knows no connection
//	internal/shape      the schema of a database as a list of objects
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

// ErrNewer is returned by [Migrator.Check] and [Migrator.Up] when the schema is
// of a later version than this program knows.
var ErrNewer = errors.New("the database's schema is newer than this program; use a newer nextrun")

// ErrOld is returned by [Migrator.Check], [Migrator.CheckVersion], [Migrator.Up] and [Migrator.Down]
// when the schema is older than the oldest file, which has all that came before it.
var ErrOld = errors.New("the database's schema is too old for this program, and nothing was changed; " +
	"build nextrun at commit " + lastWithOlder + ", run its `nextrun migrate up`, then use this program")

// lastWithOlder is the last commit whose files go on from an older schema.
const lastWithOlder = "e221275"

// ErrPending is returned by [Migrator.Check] and [Migrator.CheckVersion] when the
// schema is missing or older than this program needs.
var ErrPending = errors.New("the database's schema is not up to date; run: nextrun migrate up")

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
	files   script.Files
	// leaveOutJobs has the first Up make no tables of jobs.
	leaveOutJobs bool
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
	return &Migrator{db: db, dialect: dialect, files: script.Files{FS: files, Dialect: dialect}}
}

// Applied is a migration that Up or Down has run, or an object of the schema that
// Up has restored since it was missing or different.
type Applied struct {
	Version  int64  // 0 of what was restored
	Name     string // the file's name, or the object
	Restored bool
}

// Status is one known migration and whether the database has it.
type Status struct {
	Applied
	Done bool
}

// Up applies all migrations that the database lacks, then restores what of the
// schema is missing or different, as far as it can be restored; rows stay. It
// returns what it did, nothing if there was nothing to do. It returns [ErrNewer], [ErrOld], or an error
// that names what does not fit, before it has changed anything.
func (m *Migrator) Up(ctx context.Context) ([]Applied, error) {
	if err := m.onePiece(ctx); err != nil {
		return nil, fmt.Errorf("migrate up: %w", err)
	}
	done, err := m.apply(ctx)
	if err != nil {
		return done, err
	}
	restored, err := m.repair(ctx)
	if err != nil {
		return done, fmt.Errorf("migrate up: %w", err)
	}
	return append(done, restored...), nil
}

// Down removes everything that nextrun has added, and nothing else. While triggers of
// `nextrun queue trigger` are on tables of other queues it changes nothing, and returns
// an error that says how to remove them.
func (m *Migrator) Down(ctx context.Context) ([]Applied, error) {
	if err := withoutEndTriggers(ctx, m.db, m.dialect); err != nil {
		return nil, fmt.Errorf("migrate down: %w", err)
	}
	if err := (descent{m}).begin(ctx); err != nil {
		return nil, fmt.Errorf("migrate down: %w", err)
	}
	if err := m.clearMarks(ctx); err != nil {
		return nil, fmt.Errorf("migrate down: %w", err)
	}
	done, err := m.revert(ctx)
	if err != nil {
		return done, fmt.Errorf("migrate down: %w", err)
	}
	if _, err := m.db.ExecContext(ctx, "DROP TABLE "+versionTable); err != nil {
		return done, fmt.Errorf("migrate down: drop %s: %w", versionTable, err)
	}
	schema, err := dropOwnSchema(ctx, m.db, m.dialect)
	if schema != "" {
		done = append(done, Applied{Name: "schema " + schema})
	}
	if err != nil {
		return done, fmt.Errorf("migrate down: %w", err)
	}
	return done, nil
}

// Status lists the known migrations in order. It returns [ErrOld] if none leads on from the schema.
func (m *Migrator) Status(ctx context.Context) ([]Status, error) {
	version, _, err := versions(ctx, m)
	if err != nil && !errors.Is(err, ErrNewer) {
		return nil, err
	}
	known, err := m.files.Known()
	if err != nil {
		return nil, err
	}
	var list []Status
	for _, f := range known {
		list = append(list, Status{Applied: Applied{Version: f.Version, Name: f.Name}, Done: f.Version <= version})
	}
	return list, nil
}

// Check returns nil if the schema is the one that this program knows, else
// [ErrPending], [ErrOld], [ErrNewer] or a [*DriftError]. It changes nothing.
func (m *Migrator) Check(ctx context.Context) error {
	if err := m.CheckVersion(ctx); err != nil {
		return err
	}
	list, err := m.Drift(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	return &DriftError{list}
}

// CheckVersion is Check without a look at the single objects of the schema.
func (m *Migrator) CheckVersion(ctx context.Context) error {
	version, latest, err := versions(ctx, m)
	if err != nil || version == latest {
		return err
	}
	if err := (descent{m}).check(ctx, version); err != nil {
		return err
	}
	return fmt.Errorf("%w (it is at version %d, this program needs %d)", ErrPending, version, latest)
}

// versions are those of the database, 0 if it has none, and of the newest file. It returns
// [ErrNewer] or [ErrOld] if no file leads from the one to the other.
func versions(ctx context.Context, m *Migrator) (version, latest int64, err error) {
	version, err = m.Version(ctx)
	if err != nil {
		return 0, 0, err
	}
	known, err := m.files.Known()
	if err != nil {
		return 0, 0, err
	}
	oldest, latest := known[0].Version, known[len(known)-1].Version
	switch {
	case version > latest:
		err = fmt.Errorf("%w (it is at version %d, this program knows %d)", ErrNewer, version, latest)
	case version > 0 && version < oldest:
		err = fmt.Errorf("%w (it is at version %d, this program goes on from %d)", ErrOld, version, oldest)
	}
	return version, latest, err
}
