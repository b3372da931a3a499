package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/migrations/internal/partition"
)

// Width is how much time a partition of periodic_tick spans.
type Width = partition.Width

// The widths. Times are UTC, and weeks begin on Monday.
const (
	Day   = partition.Day
	Week  = partition.Week
	Month = partition.Month
)

// Partitions is how periodic_tick is stored. Owned says whether the role may change that.
type Partitions = partition.State

// ErrNoPartitions is returned by [Migrator.Partition] and [Migrator.Unpartition] on SQLite.
var ErrNoPartitions = errors.New("SQLite has no partitions; periodic_tick stays one table")

// How long a conversion waits for the table, while others wait behind it, how often it
// tries, and how long it lets the others go on in between.
const (
	conversionWait  = 2 * time.Second
	conversionTries = 30
	conversionPause = 3 * time.Second
)

// keepWait and keepTries are the same for the daily work on partitions.
const (
	keepWait  = 2 * time.Second // a batch may hold the table for a second
	keepTries = 10
)

// Partitions reports how periodic_tick is stored, on SQLite as one table.
func (m *Migrator) Partitions(ctx context.Context) (Partitions, error) {
	if m.dialect == SQLite {
		return Partitions{}, nil
	}
	return partition.Look(ctx, m.db)
}

// Partition makes periodic_tick a table with partitions by due, with all its rows, in one
// transaction; schedulers wait for it. Where it is one already, it makes the partitions of
// times to come. It returns what it made.
func (m *Migrator) Partition(ctx context.Context, width Width) ([]Applied, error) {
	state, err := m.convertible(ctx)
	if err != nil {
		return nil, err
	}
	if state.Partitioned && state.Width != width {
		return nil, fmt.Errorf("periodic_tick has partitions of a %s already; to change that run: nextrun migrate unpartition, "+
			"and then partition again", state.Width)
	}
	if state.Partitioned {
		return partitioner{m.db}.make(ctx, width, conversionTries)
	}
	if err := (partitioner{m.db}).convert(ctx, width); err != nil {
		return nil, fmt.Errorf("partition periodic_tick: %w", err)
	}
	return []Applied{{Name: "partitions of a " + string(width) + " to periodic_tick"}}, nil
}

// Unpartition makes periodic_tick one table again, with all its rows, in one transaction;
// schedulers wait for it. It returns nothing if it is one table.
func (m *Migrator) Unpartition(ctx context.Context) ([]Applied, error) {
	state, err := m.convertible(ctx)
	if err != nil || !state.Partitioned {
		return nil, err
	}
	if err := (partitioner{m.db}).convert(ctx, ""); err != nil {
		return nil, fmt.Errorf("make periodic_tick one table: %w", err)
	}
	return []Applied{{Name: "partitions of periodic_tick"}}, nil
}

// convertible is Partitions where the schema is that of this version.
func (m *Migrator) convertible(ctx context.Context) (Partitions, error) {
	if m.dialect == SQLite {
		return Partitions{}, ErrNoPartitions
	}
	if err := m.CheckVersion(ctx); err != nil {
		return Partitions{}, err
	}
	return m.Partitions(ctx)
}

// KeepPartitions makes the partitions of times to come, and drops those in which all ticks
// were decided longer ago than age; 0: none. A few ticks that are younger, or wait for a
// job, move to the default partition. It returns how many ticks are gone.
//
// It does nothing where periodic_tick is one table, or the role does not own it; and
// leaves for the next time what others hold. Ticks are never refused for that: without a
// partition of their time the default partition takes them.
func (m *Migrator) KeepPartitions(ctx context.Context, age time.Duration) (gone int, err error) {
	state, err := m.Partitions(ctx)
	if err != nil || !state.Partitioned || !state.Owned {
		return 0, err
	}
	p := partitioner{m.db}
	if _, err := p.make(ctx, state.Width, keepTries); err != nil && !held(err) {
		return 0, err
	}
	if age <= 0 {
		return 0, nil
	}
	var before time.Time
	err = m.db.QueryRowContext(ctx, "SELECT statement_timestamp() AT TIME ZONE 'UTC'").Scan(&before)
	if err != nil {
		return 0, fmt.Errorf("ask for the time: %w", err)
	}
	before = before.Add(-age)
	list, err := partition.Oldest(ctx, m.db, before)
	if err != nil {
		return 0, err
	}
	for _, old := range list {
		dropped := false
		err := p.exclusively(ctx, keepWait, keepTries, func(tx *sql.Tx) (err error) {
			dropped, err = partition.Drop(ctx, tx, old.Name, before)
			return err
		})
		if err != nil && !held(err) {
			return gone, err
		}
		if err == nil && dropped {
			gone += old.Rows
		}
	}
	return gone, nil
}
