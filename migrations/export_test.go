package migrations

import "context"

// ErrHidden is for tests: it has a meaning of its own only here.
var ErrHidden = errHidden

// MismatchError is what a table that was there before is refused with.
type MismatchError = mismatchError

// Wants lists what Check looks for.
func (m *Migrator) Wants(ctx context.Context) ([]Object, error) { return m.wants(ctx, 1) }
