package tasks

import (
	"context"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// LockOrigins implements [periodic.TaskTx].
func (tx taskTx) LockOrigins(ctx context.Context) error { return tx.Lock(ctx, "origins") }

// SetOrigin implements [periodic.TaskTx].
func (tx taskTx) SetOrigin(ctx context.Context, ids []string, origin string) error {
	if len(ids) == 0 {
		return nil
	}
	r, err := tx.Texts(2, ids)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE periodic_task SET origin = $1 WHERE id IN (SELECT v.value FROM "+r.SQL+" AS v)", sqldb.Nullable(origin), r.Param)
	return err
}
