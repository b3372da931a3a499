package view

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// OtherQueue is a queue of another project that tasks submit to.
type OtherQueue struct {
	Sink   string
	Tasks  int       // that submit to it
	Open   int       // jobs whose end is awaited and not known yet; of a queue that does not tell how jobs end: 0
	Oldest time.Time // when the oldest of them was submitted
}

// Others reads what nextrun knows of the queues of other projects. It counts [MostJobs] open jobs at most.
func Others(ctx context.Context, db sqldb.Opened) (list []OtherQueue, err error) {
	var rows []struct {
		Sink        string
		Tasks, Open int
		Oldest      sqldb.RowTime
	}
	err = sqldb.Of(db).View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &rows, `SELECT sink, sum(task) AS tasks, sum(job) AS open, min(submitted) AS oldest
			FROM (SELECT sink, 0 AS task, 1 AS job, submitted FROM (SELECT sink, submitted FROM periodic_open LIMIT $1) AS a
				UNION ALL SELECT sink, 1, 0, NULL FROM periodic_task WHERE sink NOT IN ('job', 'event')) AS q
			GROUP BY sink ORDER BY sink`, MostJobs)
	})
	if err != nil {
		return nil, fmt.Errorf("read what is known of other queues: %w", err)
	}
	for _, row := range rows {
		list = append(list, OtherQueue{row.Sink, row.Tasks, row.Open, row.Oldest.Time()})
	}
	return list, nil
}
