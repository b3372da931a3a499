package migrations

import (
	"context"
	"io/fs"
)

// Apply is Up without the restoring of what differs from the snapshot.
func (m *Migrator) Apply(ctx context.Context) ([]Applied, error) { return m.apply(ctx) }

// WithFiles has a migrator apply other files, such as those of an earlier state.
func (m *Migrator) WithFiles(files fs.FS) *Migrator {
	other := *m
	other.files = files
	return &other
}

// WithoutJobs has the first Up, or Apply, make no tables of jobs.
func (m *Migrator) WithoutJobs() *Migrator {
	without := *m
	without.leaveOutJobs = true
	return &without
}
