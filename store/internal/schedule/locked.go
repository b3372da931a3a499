package schedule

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/taskdb"
)

// mostLocked bounds the locked rows that are named.
const mostLocked = 20

// Locked implements [taskdb.Watcher].
func (s Store) Locked(ctx context.Context, late time.Duration, exclude taskdb.Exclude) (list []taskdb.LockedTask, err error) {
	if s.db.SQL().IsSQLite() {
		return nil, nil
	}
	err = s.db.ViewWithin(ctx, sqldb.BatchLockWait, func(tx *sqldb.Tx) error {
		rest, args, err := excluding(tx, exclude, []any{sqldb.Timestamp(tx.Now().Add(-late)), mostLocked})
		if err != nil {
			return err
		}
		from := `(SELECT id, xmax FROM periodic_task WHERE `
		due := ` AND nextrun <= $1` + rest("") + ` ORDER BY nextrun LIMIT $2)`
		held, err := sqldb.RowHolders(ctx, tx, from+canBeClaimed+due+` UNION ALL `+from+`enabled AND worker IS NOT NULL`+due, args...)
		for key, h := range held {
			list = append(list, taskdb.LockedTask{ID: key, Who: h.Who(), Holder: h.Text()})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for who has locked due tasks: %w", err)
	}
	return list, nil
}
