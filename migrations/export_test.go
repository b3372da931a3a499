package migrations

import (
	"context"

	"github.com/nextrun/nextrun/migrations/internal/shape"
)

// Apply is Up without the restoring of what differs from the snapshot.
func (m *Migrator) Apply(ctx context.Context) ([]Applied, error) { return m.apply(ctx) }

// WithoutJobs has the first Up, or Apply, make no tables of jobs.
func (m *Migrator) WithoutJobs() *Migrator {
	without := *m
	without.leaveOutJobs = true
	return &without
}

// Snapshot describes the schema of a database in which nextrun has created all its
// tables. found is a second database, in which all tables that may exist before nextrun
// did exist, and bare one without the tables of jobs.
func (m *Migrator) Snapshot(ctx context.Context, found, bare *Migrator) ([]byte, error) {
	var s shape.Snapshot
	var err error
	if s.Version, err = m.Version(ctx); err != nil {
		return nil, err
	}
	if s.Files, err = m.files.Checksum(); err != nil {
		return nil, err
	}
	if s.Server, err = shape.Server(ctx, m.db, m.dialect); err != nil {
		return nil, err
	}
	if s.Objects, err = shape.Inspect(ctx, m.db, m.dialect); err != nil {
		return nil, err
	}
	shared, err := shape.Inspect(ctx, found.db, m.dialect)
	if err != nil {
		return nil, err
	}
	without, err := shape.Inspect(ctx, bare.db, m.dialect)
	if err != nil {
		return nil, err
	}
	s.Mark(shared, without)
	return s.JSON()
}

// ErrHidden is for tests: it has a meaning of its own only here.
var ErrHidden = errHidden

// MismatchError is what a table that was there before is refused with.
type MismatchError = mismatchError
