package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/nextrun/nextrun/internal/ownschema"
	"github.com/nextrun/nextrun/migrations/internal/script"
	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// withoutJobs is the row of nextrun_found in a database without the tables of jobs.
const withoutJobs = script.WithoutJobs

// ErrHasJobs is returned by [Migrator.UpWithoutJobs] if the tables of jobs are there.
var ErrHasJobs = errors.New("the database has the tables of jobs already; they can only be left out when nextrun's tables " +
	"are created (nextrun migrate down removes them all)")

// UpWithoutJobs is [Migrator.Up] for a database that is to have no tables of jobs:
// job, joblog and those whose names begin with job. A table of such a name that belongs to
// something else is left alone. The choice is recorded, and holds for every later Up
// until [Migrator.AddJobs]. If the tables are there it returns [ErrHasJobs].
func (m *Migrator) UpWithoutJobs(ctx context.Context) ([]Applied, error) {
	without := *m
	without.leaveOutJobs = true
	if version, err := m.Version(ctx); err != nil {
		return nil, err
	} else if version > 0 {
		if has, err := m.HasJobs(ctx); err != nil || has {
			return nil, errors.Join(err, orNil(has, ErrHasJobs))
		}
	}
	done, err := without.Up(ctx)
	if err != nil {
		return done, err
	}
	has, err := m.HasJobs(ctx) // another process may have been faster
	return done, errors.Join(err, orNil(has, ErrHasJobs))
}

func orNil(is bool, err error) error {
	if is {
		return err
	}
	return nil
}

// HasJobs reports whether the database has, or will have, the tables of jobs.
func (m *Migrator) HasJobs(ctx context.Context) (bool, error) {
	version, err := m.Version(ctx)
	if err != nil || version == 0 {
		return true, err
	}
	found, err := recorded(ctx, m.db)
	return !found[withoutJobs], err
}

// AddJobs is [Migrator.Up], and adds the tables of jobs if [Migrator.UpWithoutJobs]
// has left them out. A table that exists is compared and extended, as by the first Up.
func (m *Migrator) AddJobs(ctx context.Context) ([]Applied, error) {
	done, err := m.Up(ctx)
	if err != nil {
		return done, err
	}
	if has, err := m.HasJobs(ctx); err != nil || has {
		return done, err
	}
	if err := m.compare(ctx, tables.Jobs); err != nil {
		return done, err
	}
	if err := m.addJobs(ctx); err != nil {
		return done, fmt.Errorf("add the tables of jobs: %w", err)
	}
	restored, err := m.repair(ctx) // what looks different without them
	if err != nil {
		return done, fmt.Errorf("add the tables of jobs: %w", err)
	}
	for _, name := range tables.Jobs {
		done = append(done, Applied{Name: "table " + name})
	}
	return append(done, restored...), nil
}

func (m *Migrator) addJobs(ctx context.Context) error {
	found, err := tables.Found(ctx, m.db, m.dialect, tables.Jobs)
	if err != nil {
		return err
	}
	all, err := recorded(ctx, m.db)
	if err != nil {
		return err
	}
	maps.Copy(all, found)
	delete(all, withoutJobs)
	schema, err := schemaOf(ctx, m.db, m.dialect)
	if err != nil {
		return err
	}
	files, err := m.files.Render(script.State{Found: all, Schema: schema})
	if err != nil {
		return err
	}
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing to undo after a commit
	if err := m.addJobsIn(ctx, tx, files, found); err != nil {
		return err
	}
	return tx.Commit()
}

// addJobsIn runs the statements of the part, unless another process has done so.
func (m *Migrator) addJobsIn(ctx context.Context, tx *sql.Tx, files fs.FS, found map[string]bool) error {
	if m.dialect == Postgres { // others take turns
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", ownschema.Lock); err != nil {
			return fmt.Errorf("lock the schema: %w", err)
		}
	}
	result, err := tx.ExecContext(ctx, "DELETE FROM nextrun_found WHERE name = '"+withoutJobs+"'")
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return err
	}
	known, err := m.files.Known()
	if err != nil {
		return err
	}
	for _, a := range known {
		text, err := fs.ReadFile(files, a.Name)
		if err != nil {
			return fmt.Errorf("read %s: %w", a.Name, err)
		}
		for _, s := range script.JobsOnly(string(text)) {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", a.Name, err)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, err := tx.ExecContext(ctx, "INSERT INTO nextrun_found (name) VALUES ($1)", name); err != nil {
			return err
		}
	}
	return nil
}
