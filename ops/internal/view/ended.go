package view

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/batch"
)

// Ending counts the runs of ten minutes that ended alike, or did not run.
type Ending struct {
	At      time.Time // when these ten minutes begin
	Outcome string    // the state of the jobs, otherwise the decision
	Runs    int
}

// mostEnded is how many jobs that ended [Reader.Ended] counts.
const mostEnded = 20_000

// Ended counts what ended in a time, and the ticks that did not run. If too many jobs ended, it counts the newest; then known
// is from when on all are counted, otherwise zero. Jobs of hooks do not count.
func (r Reader) Ended(ctx context.Context, from, to time.Time) (list []Ending, known time.Time, err error) {
	var rows []struct {
		At      string
		Outcome sqldb.RowText
		Runs    int
		Jobs    int
		Until   sqldb.RowTime // of ticks that were missed together, which then began at Due
		Due     sqldb.RowTime
	}
	err = r.read(ctx, "count what ended", func(ctx context.Context, tx *sqldb.Tx) error {
		return tx.Select(ctx, &rows, ended(tx.SQL()), sqldb.Timestamp(from), sqldb.Timestamp(to), mostEnded)
	})
	if err != nil {
		return nil, known, err
	}
	jobs, oldest := 0, to
	for _, row := range rows {
		at, err := time.Parse("2006-01-02 15:04", row.At+"0")
		if err != nil {
			continue // a time that a person has written in another form
		}
		if jobs += row.Jobs; row.Jobs > 0 && at.Before(oldest) {
			oldest = at
		}
		if until := row.Until.Time(); !until.IsZero() {
			list = append(list, spread(row.Due.Time(), until, row.Runs, string(row.Outcome), from, to)...)
			continue
		}
		list = append(list, Ending{at, string(row.Outcome), row.Runs})
	}
	if jobs >= mostEnded {
		known = oldest
	}
	return list, known, nil
}

// spread puts ticks that were missed together at even distances, and leaves those of a time.
func spread(due, until time.Time, runs int, outcome string, from, to time.Time) (list []Ending) {
	step := until.Sub(due) / time.Duration(max(runs-1, 1))
	for at := due; step > 0 && !at.After(until); at = at.Add(step) {
		if !at.Before(from) && at.Before(to) {
			list = append(list, Ending{at.Truncate(10 * time.Minute), outcome, 1})
		}
	}
	return list
}

// ended groups times by their first characters: a time up to the tens of its minutes.
func ended(words *sqldb.Words) string {
	with, ticks, where := batch.TicksSince("$1", words.IsSQLite())
	return with + `SELECT substr(CAST(finished AS text), 1, 15) AS at, state AS outcome, count(*) AS runs, count(*) AS jobs, NULL AS due, NULL AS until FROM (SELECT finished, state FROM job
			WHERE finished >= $1 AND finished < $2 AND group_ <> '` + jobqueue.HookGroup + `' ORDER BY finished DESC LIMIT $3) AS j GROUP BY 1, 2
		UNION ALL SELECT substr(CAST(k.due AS text), 1, 15), coalesce(k.outcome, k.decision), sum(CASE WHEN k.missed > 1 THEN k.missed WHEN k.missed < 0 THEN 10000 ELSE 1 END), 0, CASE WHEN k.until IS NOT NULL THEN k.due END, k.until FROM ` + ticks + `
			WHERE k.due < $2 AND (k.decision <> 'submitted' OR k.outcome IS NOT NULL) AND k.decided IS NOT NULL AND ` + where + ` GROUP BY 1, 2, 5, 6`
}
