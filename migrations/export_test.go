package migrations

// MismatchError is what a table that was there before is refused with.
type MismatchError = mismatchError

// With is the migrator of a program that knows one more migration.
func (m *Migrator) With(name, text string) *Migrator {
	return &Migrator{m.db, m.dialect, append(m.files[:len(m.files):len(m.files)], newFile(name, text))}
}

// First is the migrator of a program that knows the first n migrations only.
func (m *Migrator) First(n int) *Migrator { return &Migrator{m.db, m.dialect, m.files[:n]} }

// Checksums are those of the migrations, in order.
func Checksums(dialect Dialect) (list []string) {
	for _, f := range embedded(dialect) {
		list = append(list, f.name+" "+f.madeBy())
	}
	return list
}
