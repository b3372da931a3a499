package migrations

import (
	"context"
	"io/fs"
)

// Apply is Up without the restoring of what differs from the snapshot.
func (m *Migrator) Apply(ctx context.Context) ([]Applied, error) { return m.apply(ctx) }

// WithFiles has a migrator apply other files, such as those of an earlier state.
func (m *Migrator) WithFiles(files fs.FS) *Migrator {
	return &Migrator{db: m.db, dialect: m.dialect, files: files}
}
