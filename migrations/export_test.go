package migrations

import "io/fs"

// WithFiles has a migrator apply other files, such as those of an earlier state.
func (m *Migrator) WithFiles(files fs.FS) *Migrator {
	return &Migrator{db: m.db, dialect: m.dialect, files: files}
}
