package migrations

// MismatchError is what a table that was there before is refused with.
type MismatchError = mismatchError

// With is the migrator of a program that knows one more migration.
func (m *Migrator) With(name, text string) *Migrator {
	return &Migrator{m.db, m.dialect, append(m.files[:len(m.files):len(m.files)], newFile(name, text))}
}
