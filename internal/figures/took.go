package figures

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

// Took reads how long the jobs took that succeeded, of the n newest ticks of each of these tasks.
func (r Reader) Took(ctx context.Context, ids []string, n int) (took map[string][]time.Duration, err error) {
	var rows []tookRow
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		jobs, err := ownJobs(ctx, tx)
		if err != nil || !jobs {
			return err
		}
		asked, err := tx.Texts(1, ids)
		if err != nil {
			return err
		}
		return tx.Select(ctx, &rows, tookQuery(asked.SQL), asked.Param, max(n, 1)-1)
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

// tookQuery goes from tick to tick. It has a subquery for each value, which keeps the database from reading all ticks and jobs.
func tookQuery(asked string) string {
	return `WITH RECURSIVE k (id, due, i) AS (
			SELECT v.value, (SELECT max(due) FROM periodic_tick WHERE task_id = v.value), 0 FROM ` + asked + ` AS v
			UNION ALL SELECT id, (SELECT max(t.due) FROM periodic_tick AS t WHERE t.task_id = k.id AND t.due < k.due), i + 1 FROM k WHERE due IS NOT NULL AND i < $2),
		t AS MATERIALIZED (SELECT id, (SELECT jid FROM periodic_tick AS t WHERE t.task_id = k.id AND t.due = k.due) AS jid FROM k WHERE due IS NOT NULL),
		j AS MATERIALIZED (SELECT id, (SELECT started FROM job WHERE jid = t.jid AND state = 'success') AS started,
			(SELECT finished FROM job WHERE jid = t.jid AND state = 'success') AS finished FROM t WHERE jid IS NOT NULL)
		SELECT id, started, finished FROM j WHERE started IS NOT NULL AND finished IS NOT NULL`
}

// Elsewhere reads the newest ticks in a time that became an event or a job of another queue, at most limit of each task and of
// all. They begin when they were decided; of those whose end is not told, that is their end, too.
func (r Reader) Elsewhere(ctx context.Context, from, to time.Time, group string, limit int) (list []SampledRun, err error) {
	var rows []sampleRow
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &rows, `SELECT 0 AS sampled, t.id AS tracker, t.task, t.group_, coalesce(`+told+`, 'submitted') AS state,
				k.decided AS started, coalesce(k.finished, k.decided) AS finished
			FROM periodic_task AS t JOIN periodic_tick AS k ON k.task_id = t.id AND k.due >= $1 AND k.due < $2
			WHERE t.sink <> '`+string(periodic.SinkJob)+`' AND k.decision = 'submitted' AND ($3 = '' OR t.group_ = $3) LIMIT $4`,
			sqldb.Timestamp(from), sqldb.Timestamp(to), group, limit)
	})
	if err != nil {
		return nil, fmt.Errorf("read what ran in other queues: %w", err)
	}
	for _, row := range rows {
		list = append(list, row.run())
	}
	return list, nil
}
