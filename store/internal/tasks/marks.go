package tasks

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// marked is when a task was marked. What no scheduler writes has expired.
const marked = `CASE WHEN marked >= '1970-01-01 00:00:00' AND marked < '9999-12-31 00:00:00' THEN marked ELSE '1970-01-01 00:00:00' END`

// ClearMarks finds the marks of a name by what stands in front of the boot id in a
// [service.WorkerID].
func (tx schedulerTx) ClearMarks(ctx context.Context, lease time.Duration, name string) (int, error) {
	n, err := tx.Exec(ctx, `UPDATE periodic_task SET worker = NULL, marked = NULL WHERE id IN (
			SELECT id FROM periodic_task WHERE worker IS NOT NULL AND (
				marked IS NULL OR marked < $1 OR marked > $2
				OR ($3 <> '' AND (worker = $3 OR substr(worker, 1, length($4)) = $4)))`+
		tx.SQL().ForUpdate+`)`,
		sqldb.Timestamp(tx.Now().Add(-lease)), sqldb.Timestamp(tx.Now().Add(lease)), name, service.WorkerName(name)+service.BootMark)
	return int(n), err
}
