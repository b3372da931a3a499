package schedule

import (
	"context"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
)

var (
	originColumns = taskdb.OriginColumns()
	readOrigins   = "SELECT " + column.Names("", originColumns) + " FROM periodic_origin"
)

func (tx taskTx) Origins(ctx context.Context) ([]periodic.Origin, error) {
	return sqldb.Rows(ctx, tx.Tx, originColumns, readOrigins+" ORDER BY name")
}

func (tx taskTx) LockOrigin(ctx context.Context, name string) (o periodic.Origin, err error) {
	_, err = tx.Exec(ctx, "INSERT INTO periodic_origin (name) VALUES ($1) ON CONFLICT (name) DO NOTHING", name)
	if err == nil {
		err = tx.one(ctx, "UPDATE periodic_origin SET name = name WHERE name = $1", name) // the lock
	}
	if err != nil {
		return o, err
	}
	list, err := sqldb.Rows(ctx, tx.Tx, originColumns, readOrigins+" WHERE name = $1", name)
	if err == nil && len(list) == 1 {
		o = list[0]
	}
	return o, err
}

func (tx taskTx) SaveOrigin(ctx context.Context, o periodic.Origin, tasks []string) error {
	err := tx.one(ctx, "UPDATE periodic_origin SET version = $2, since = $3, declared = $4, digests = $5 WHERE name = $1",
		o.Name, o.Version, sqldb.Timestamp(o.Since), o.Declared, o.Digests)
	if err != nil || len(tasks) == 0 {
		return err
	}
	r, err := tx.Texts(2, tasks)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE periodic_task SET origin = $1 WHERE id IN (SELECT v.value FROM "+r.SQL+" AS v)", o.Name, r.Param)
	return err
}
