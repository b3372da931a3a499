package figures

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// Took reads how long the jobs took that ended in a state, such as success, of the n newest ticks of each of these tasks.
func (r Reader) Took(ctx context.Context, ids []string, n int, state jobqueue.State) (took map[string][]time.Duration, err error) {
	var rows []tookRow
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		asked, err := tx.Texts(1, ids)
		if err != nil {
			return err
		}
		return tx.Select(ctx, &rows, tookQuery(asked.SQL, state), asked.Param, max(n, 1)-1)
	})
	if err != nil {
		return nil, fmt.Errorf("read how long jobs took: %w", err)
	}
	took = map[string][]time.Duration{}
	for _, row := range rows {
		took[row.ID] = append(took[row.ID], row.Finished.Time().Sub(row.Started.Time()))
	}
	return took, nil
}

type tookRow struct {
	ID                string
	Started, Finished sqldb.RowTime
}

// tookQuery has a subquery for each value of a job, which keeps the database from reading all jobs.
func tookQuery(asked string, state jobqueue.State) string {
	return `WITH t AS MATERIALIZED (SELECT v.value AS id, coalesce((SELECT due FROM periodic_tick WHERE task_id = v.value
				ORDER BY due DESC LIMIT 1 OFFSET $2), '0001-01-01 00:00:00.000000') AS oldest FROM ` + asked + ` AS v),
			k AS MATERIALIZED (SELECT t.id, k.jid FROM t CROSS JOIN periodic_tick AS k WHERE k.task_id = t.id AND k.due >= t.oldest AND k.jid IS NOT NULL),
			j AS MATERIALIZED (SELECT id, (SELECT started FROM job WHERE jid = k.jid AND state = '` + string(state) + `') AS started,
				(SELECT finished FROM job WHERE jid = k.jid AND state = '` + string(state) + `') AS finished FROM k)
		SELECT id, started, finished FROM j WHERE started IS NOT NULL AND finished IS NOT NULL`
}
