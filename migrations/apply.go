package migrations

import (
	"context"
	"errors"
	"fmt"
	"testing/fstest"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/nextrun/nextrun/internal/ownschema"
	"github.com/nextrun/nextrun/migrations/internal/script"
)

// maxDeadlocks is how often Up or Down begins again because of a deadlock.
const maxDeadlocks = 10

// Up makes the schema if there is none. It returns what it did, nothing if there was nothing to do.
// It returns [ErrOther], or an error that names what does not fit, before it has changed anything.
// It repairs nothing: see [Migrator.Missing].
func (m *Migrator) Up(ctx context.Context) ([]Applied, error) {
	var done []Applied
	for deadlocks := 0; ; {
		before, p, err := m.open(ctx)
		if err != nil {
			return done, err
		}
		if before == 0 {
			if err := m.compare(ctx); err != nil {
				if after, verr := m.Version(ctx); verr == nil && after > 0 {
					continue // another process migrated while we compared
				}
				return done, err
			}
		}
		results, err := p.Up(ctx)
		if err == nil {
			return append(done, applied(results)...), nil
		}
		if partial := (*goose.PartialError)(nil); errors.As(err, &partial) {
			done = append(done, applied(partial.Applied)...)
		}
		// A running scheduler may lock the tables in another order. Nothing of that
		// migration was committed.
		if sqlState(err) == "40P01" && deadlocks < maxDeadlocks {
			deadlocks++
			continue
		}
		after, verr := m.Version(ctx)
		if verr != nil || after == before {
			return done, fmt.Errorf("migrate up: %w", err)
		}
		// Another process won the race for a migration: go on from there.
	}
}

// open returns the current version and a goose provider over the SQL as it
// reads for this database.
func (m *Migrator) open(ctx context.Context) (int64, *goose.Provider, error) {
	version, err := m.ours(ctx)
	if err != nil {
		return 0, nil, err
	}
	state, err := m.state(ctx, version)
	if err != nil {
		return 0, nil, err
	}
	text, err := m.source.Render(state)
	if err != nil {
		return 0, nil, err
	}
	fsys := fstest.MapFS{script.Name: {Data: []byte(text)}}
	options := []goose.ProviderOption{goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true)}
	dialect := goose.DialectSQLite3
	if m.dialect == Postgres {
		dialect = goose.DialectPostgres
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(ownschema.Lock), lock.WithLockTimeout(1, 300))
		if err != nil {
			return 0, nil, fmt.Errorf("migration lock: %w", err)
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(dialect, m.db, fsys, options...)
	if err != nil {
		return 0, nil, fmt.Errorf("open migrations: %w", err)
	}
	return version, p, nil
}

// state is what the SQL depends on in this database, whose schema is at a version.
func (m *Migrator) state(ctx context.Context, version int64) (s script.State, err error) {
	if s.Found, err = m.found(ctx, version); err == nil {
		s.Schema, err = schemaOf(ctx, m.db, m.dialect)
	}
	return s, err
}

func applied(results []*goose.MigrationResult) []Applied {
	var list []Applied
	for _, r := range results {
		list = append(list, Applied{Version: r.Source.Version, Name: r.Source.Path})
	}
	return list
}
