package view

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic/batch"
)

// NotRun counts the ticks that were due in a time and have no job, by decision: with a group, of its tasks only. Of ticks that were missed together, each counts.
func (r Reader) NotRun(ctx context.Context, from, to time.Time, group string) (map[string]int, error) {
	var rows []struct {
		Decision string
		Ticks    int
	}
	err := r.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &rows, notRun(tx.SQL()), sqldb.Timestamp(from), sqldb.Timestamp(to), group)
	})
	if err != nil {
		return nil, fmt.Errorf("count the ticks that did not run: %w", err)
	}
	counts := map[string]int{}
	for _, row := range rows {
		counts[row.Decision] = row.Ticks
	}
	return counts, nil
}

func notRun(words *sqldb.Words) string {
	with, from, where := batch.TicksSince("$1", words.IsSQLite())
	return with + `SELECT k.decision, sum(CASE WHEN k.missed > 1 THEN k.missed WHEN k.missed < 0 THEN 10000 ELSE 1 END) AS ticks FROM ` + from + `
		WHERE k.decision <> 'submitted' AND k.due < $2 AND ` + where + ` AND ($3 = '' OR k.task_id IN (SELECT g.id FROM periodic_task AS g WHERE g.group_ = $3))
		GROUP BY k.decision`
}
