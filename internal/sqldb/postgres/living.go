package postgres

import (
	"context"
	"database/sql"
)

// Living implements [sqldb.Dialect].
func (d *dialect) Living(ctx context.Context) (workers []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	rows, err := d.pool.QueryContext(ctx, `SELECT worker FROM worker_session AS s WHERE server = `+serverStart+` AND NOT (`+isGone+`)`)
	if err != nil {
		return nil, err
	}
	return scanWorkers(rows)
}

func scanWorkers(rows *sql.Rows) (workers []string, err error) {
	defer rows.Close() //nolint:errcheck // reading
	for rows.Next() {
		var worker string
		if err := rows.Scan(&worker); err != nil {
			return nil, err
		}
		workers = append(workers, worker)
	}
	return workers, rows.Err()
}
