package migrations

import (
	"context"
	"errors"
	"fmt"

	"github.com/pressly/goose/v3"
)

// maxDeadlocks is how often Up or Down begins again because of a deadlock.
const maxDeadlocks = 10

// apply applies the migrations that the database lacks.
func (m *Migrator) apply(ctx context.Context) ([]Applied, error) {
	var done []Applied
	for deadlocks := 0; ; {
		before, p, err := m.open(ctx)
		if err != nil {
			return done, err
		}
		if before == 0 {
			if err := m.compare(ctx); err != nil {
				if after, verr := m.Version(ctx); verr == nil && after > 0 {
					continue // another process migrated while we compared
				}
				return done, err
			}
		}
		results, err := p.Up(ctx)
		if err == nil {
			return append(done, applied(results)...), nil
		}
		if partial := (*goose.PartialError)(nil); errors.As(err, &partial) {
			done = append(done, applied(partial.Applied)...)
		}
		// A running scheduler may lock the tables in another order. Nothing of that
		// migration was committed.
		if sqlState(err) == "40P01" && deadlocks < maxDeadlocks {
			deadlocks++
			continue
		}
		after, verr := m.Version(ctx)
		if verr != nil || after == before {
			return done, fmt.Errorf("migrate up: %w", err)
		}
		// Another process won the race for a migration: go on from there.
	}
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
