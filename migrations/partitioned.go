package migrations

import (
	"context"
	"errors"
	"fmt"
)

// lastWithPartitions is the last commit that can make a periodic_tick with partitions one table.
const lastWithPartitions = "7181961"

// errPartitioned is returned by [Migrator.Up] when periodic_tick has partitions, which this version does not know.
var errPartitioned = errors.New("the table periodic_tick has partitions, which this version does not support; nothing was changed: " +
	"build nextrun at commit " + lastWithPartitions + ", run: nextrun migrate unpartition, then try again with this version")

// onePiece returns [errPartitioned] unless periodic_tick is one table, or missing.
func (m *Migrator) onePiece(ctx context.Context) error {
	if m.dialect == SQLite {
		return nil
	}
	var partitioned bool
	err := m.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relname = 'periodic_tick' AND relkind = 'p')`).Scan(&partitioned)
	if err != nil {
		return fmt.Errorf("look whether periodic_tick has partitions: %w", err)
	}
	if partitioned {
		return errPartitioned
	}
	return nil
}
