package migrations

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// maxDeadlocks is how often Up or Down begins again because of a deadlock.
const maxDeadlocks = 10

// Up makes the schema if there is none. It returns what it did, nothing if there was nothing to do.
// It returns [ErrOther], or an error that names what does not fit, before it has changed anything.
// It repairs nothing: see [Migrator.Missing].
func (m *Migrator) Up(ctx context.Context) ([]Applied, error) {
	s, err := m.state(ctx)
	if err != nil || s.version > 0 {
		return nil, err
	}
	var done []Applied
	if err = m.compare(ctx); err == nil {
		done, err = m.run(ctx, s.found, func(p *goose.Provider) ([]*goose.MigrationResult, error) { return p.Up(ctx) })
	}
	if err != nil {
		if version, verr := m.Version(ctx); verr == nil && version > 0 {
			return nil, nil // another process has migrated meanwhile
		}
		return nil, fmt.Errorf("migrate up: %w", err)
	}
	return done, nil
}

// run has goose work with the file as it reads for this database.
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
	text, err := m.render(ctx, found)
	if err != nil {
		return nil, err
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
	p, err := goose.NewProvider(dialect, m.db, fstest.MapFS{fileName: {Data: []byte(text)}}, options...)
	if err != nil {
		return nil, fmt.Errorf("open migrations: %w", err)
	}
	return p, nil
}
