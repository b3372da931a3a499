package migrations

import "context"

// MismatchError is what a table that was there before is refused with.
type MismatchError = mismatchError

// Wants lists what Check looks for.
func (m *Migrator) Wants(ctx context.Context) ([]Object, error) { return m.wants(ctx) }
