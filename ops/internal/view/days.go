package view

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

// Period is a time from Begin to before End, such as a day in some zone.
type Period struct{ Begin, End time.Time }

// Outcomes are the ticks of a task in a period.
type Outcomes struct {
	Period
	TaskID string
	Ticks  int    // that were decided; those that were missed together count each
	Failed int    // jobs
	Worst  string // state of a job, otherwise decision; empty: there was no tick
}

// outcomes are what may become of a tick, the worst last.
var outcomes = []string{"", "success", "submitted", "unknown", "scheduled", "running", "waiting", "skipped", "cancelled",
	"stuck", "late", "missed", "failed"}

// Outcomes reads what became of the ticks of tasks in each of these periods, by task and
// period. Of each task, it looks through so many of the newest ticks; a period that is not
// whole is left out.
func (r Reader) Outcomes(ctx context.Context, taskIDs []string, periods []Period, most int) (list []Outcomes, err error) {
	var rows []outcomesRow
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		rows, err = readOutcomes(ctx, tx, taskIDs, periods, most)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what became of ticks: %w", err)
	}
	for _, row := range rows {
		o := Outcomes{TaskID: row.ID, Period: periods[row.N], Worst: outcomes[row.Packed%outcomeBase]}
		o.Failed = int(row.Packed / outcomeBase % failedBase)
		o.Ticks = int(row.Packed / outcomeBase / failedBase)
		list = append(list, o)
	}
	return list, nil
}

// A period's figures are one number, for a subquery returns one value: the ticks, the
// failed jobs, and the worst outcome as its index.
const (
	outcomeBase = 16
	failedBase  = 1_000_000
)

type outcomesRow struct {
	ID     string
	N      int
	Packed int64
}

func readOutcomes(ctx context.Context, tx *sqldb.Tx, taskIDs []string, periods []Period, most int) (rows []outcomesRow, err error) {
	ids, err := tx.Texts(2, taskIDs)
	if err != nil {
		return nil, err
	}
	asked, err := tx.DB().Records(1, []sqldb.Field{sqldb.Int("n"), sqldb.Time("begins"), sqldb.Time("ends")}, len(periods),
		func(i int) []any { return []any{i, periods[i].Begin, periods[i].End} })
	if err != nil {
		return nil, err
	}
	from := periodic.Never
	for _, p := range periods {
		if p.Begin.Before(from) {
			from = p.Begin
		}
	}
	err = tx.Select(ctx, &rows, outcomesQuery(asked.SQL, ids.SQL), asked.Param, ids.Param, most, sqldb.Timestamp(from))
	return rows, err
}

// outcomesQuery reads each period by a range of the primary key of periodic_tick, and
// its jobs by theirs: a subquery for each keeps the database from reading all jobs.
func outcomesQuery(asked, ids string) string {
	var rank strings.Builder
	for i, o := range outcomes[1:] {
		fmt.Fprintf(&rank, " WHEN '%s' THEN %d", o, i+1)
	}
	return fmt.Sprintf(`WITH t AS MATERIALIZED (SELECT v.value AS id, coalesce((SELECT due FROM periodic_tick WHERE task_id = v.value AND due >= $4
				ORDER BY due DESC LIMIT 1 OFFSET $3), '0001-01-01 00:00:00.000000') AS oldest FROM %s AS v)
		SELECT t.id, d.n, coalesce((
			SELECT CAST((sum(ticks) * %d + sum(CASE WHEN outcome = 'failed' THEN 1 ELSE 0 END)) * %d + max(CASE outcome%s ELSE 0 END) AS bigint)
			FROM (SELECT CASE WHEN k.missed > 1 THEN k.missed WHEN k.missed < 0 THEN 10000 ELSE 1 END AS ticks, coalesce(nullif(k.state, 'pending'), k.decision) AS outcome
				FROM periodic_run AS k WHERE k.task_id = t.id AND k.due >= d.begins AND k.due < d.ends) AS x), 0) AS packed
		FROM t CROSS JOIN %s AS d WHERE d.begins >= t.oldest ORDER BY t.id, d.n`, ids, failedBase, outcomeBase, rank.String(), asked)
}
