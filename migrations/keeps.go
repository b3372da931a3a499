package migrations

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// Keeps lists the tables that were there before nextrun, by name: [Migrator.Down]
// leaves them and their rows, and removes only what nextrun added to them.
func (m *Migrator) Keeps(ctx context.Context) ([]string, error) {
	version, err := m.Version(ctx)
	if err != nil || version == 0 {
		return nil, err
	}
	found, err := m.found(ctx, version)
	if err != nil {
		return nil, err
	}
	var tables []string
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !strings.ContainsAny(name, ". ") {
			tables = append(tables, name)
		}
	}
	return tables, nil
}
