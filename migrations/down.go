package migrations

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
)

// Down removes everything that nextrun has added, and nothing else. While triggers that end
// waits (docs/queues.md) are on tables of other queues it changes nothing, and returns
// an error that says how to remove them.
func (m *Migrator) Down(ctx context.Context) ([]Applied, error) {
	if err := withoutEndTriggers(ctx, m.db, m.dialect); err != nil {
		return nil, fmt.Errorf("migrate down: %w", err)
	}
	done, err := m.revert(ctx)
	if err != nil {
		return done, fmt.Errorf("migrate down: %w", err)
	}
	if _, err := m.db.ExecContext(ctx, "DROP TABLE "+versionTable); err != nil {
		return done, fmt.Errorf("migrate down: drop %s: %w", versionTable, err)
	}
	schema, err := dropOwnSchema(ctx, m.db, m.dialect)
	if schema != "" {
		done = append(done, Applied{Name: "schema " + schema})
	}
	if err != nil {
		return done, fmt.Errorf("migrate down: %w", err)
	}
	return done, nil
}

// revert takes all migrations back.
func (m *Migrator) revert(ctx context.Context) (done []Applied, err error) {
	for deadlocks := 0; ; deadlocks++ {
		_, p, err := m.open(ctx)
		if err != nil {
			return done, err
		}
		results, err := p.DownTo(ctx, 0)
		if err == nil {
			return append(done, applied(results)...), nil
		}
		if partial := (*goose.PartialError)(nil); errors.As(err, &partial) {
			done = append(done, applied(partial.Applied)...)
		}
		if sqlState(err) != "40P01" || deadlocks == maxDeadlocks { // a running scheduler
			return done, err
		}
	}
}

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
