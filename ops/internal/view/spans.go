package view

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

// Span is a run of a task that has begun, as a timeline has it.
type Span struct {
	TaskID, Group, State string
	Started              time.Time
	Finished             time.Time // zero: it has not ended
}

// mostOpen is how many runs are read that have not ended by the end of a time.
const mostOpen = 2000

// Runs reads the jobs that ended in a time, the newest, at most so many, and those that began in it and ended later or have not ended.
// With a group, it reads those of its tasks only.
func (r Reader) Runs(ctx context.Context, from, to time.Time, group string, most int) ([]Span, error) {
	var rows []spanRow
	err := r.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &rows, `SELECT * FROM (`+begun+`finished > $3 AND finished <= $4 ORDER BY finished DESC LIMIT $5) AS ended
			UNION ALL SELECT * FROM (`+begun+`finished > $4 AND started < $4 ORDER BY finished LIMIT $2) AS later
			UNION ALL SELECT * FROM (`+begun+`state IN ('scheduled', 'running') LIMIT $2) AS running`,
			group, mostOpen, sqldb.Timestamp(from), sqldb.Timestamp(to), most)
	})
	if err != nil {
		return nil, fmt.Errorf("read what ran: %w", err)
	}
	return spansOf(rows), nil
}

const begun = `SELECT tracker, group_, state, started, finished FROM job
	WHERE ($1 = '' OR group_ = $1) AND tracker IS NOT NULL AND started IS NOT NULL AND `

// Elsewhere reads the newest ticks in a time that became an event or a job of another queue, at most limit of each task and of
// all. They begin when they were decided; of those whose end is not told, that is their end, too. CROSS JOIN keeps SQLite from
// reading all ticks.
func (r Reader) Elsewhere(ctx context.Context, from, to time.Time, group string, limit int) ([]Span, error) {
	var rows []spanRow
	err := r.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &rows, `SELECT t.id AS tracker, t.group_, coalesce(CASE k.outcome WHEN 'gone' THEN 'success' ELSE k.outcome END, 'submitted') AS state,
				k.decided AS started, coalesce(k.finished, k.decided) AS finished
			FROM periodic_task AS t CROSS JOIN periodic_tick AS k
			WHERE k.task_id = t.id AND k.due >= $1 AND k.due < $2 AND t.sink <> '`+string(periodic.SinkJob)+`' AND k.decision = 'submitted' AND ($3 = '' OR t.group_ = $3) LIMIT $4`,
			sqldb.Timestamp(from), sqldb.Timestamp(to), group, limit)
	})
	if err != nil {
		return nil, fmt.Errorf("read what ran in other queues: %w", err)
	}
	return spansOf(rows), nil
}

type spanRow struct {
	TaskID   sqldb.RowText `db:"tracker"`
	Group    sqldb.RowText `db:"group_"`
	State    string
	Started  sqldb.RowTime
	Finished sqldb.RowTime
}

func spansOf(rows []spanRow) []Span {
	list := make([]Span, len(rows))
	for i, row := range rows {
		list[i] = Span{string(row.TaskID), string(row.Group), row.State, row.Started.Time(), row.Finished.Time()}
	}
	return list
}
