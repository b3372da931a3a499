package view

import (
	"context"
	"slices"
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

	Together bool // they were missed together: of the times between the first and the last of them, these are at even distances
}

// mostEnded is how many jobs that ended [Reader.Ended] counts.
const mostEnded = 20_000

// endedRow counts what ended alike in ten minutes, whose time is that up to the tens of its minutes.
type endedRow struct {
	At      string
	Outcome sqldb.RowText
	Runs    int
	Until   sqldb.RowTime // of ticks that were missed together, which then began at Due
	Due     sqldb.RowTime
}

// Ended counts what ended in a time, and the ticks that did not run. If too many jobs ended, it counts the newest, and what is as
// new as they are; then known is from when on all are counted, otherwise zero. Jobs of hooks do not count.
func (r Reader) Ended(ctx context.Context, from, to time.Time) (list []Ending, known time.Time, err error) {
	err = r.read(ctx, "count what ended", func(ctx context.Context, tx *sqldb.Tx) error {
		var jobs, ticks []endedRow
		err := tx.Select(ctx, &jobs, endedJobs, sqldb.Timestamp(from), sqldb.Timestamp(to), mostEnded)
		if err != nil {
			return err
		}
		n, since, oldest := 0, from, to
		for _, row := range jobs {
			if at, ok := row.at(); ok {
				list = append(list, Ending{At: at, Outcome: string(row.Outcome), Runs: row.Runs})
				n, oldest = n+row.Runs, slices.MinFunc([]time.Time{oldest, at}, time.Time.Compare)
			}
		}
		if n >= mostEnded {
			known, since = oldest, oldest
		}
		err = tx.Select(ctx, &ticks, endedTicks(tx.SQL()), sqldb.Timestamp(since), sqldb.Timestamp(to))
		for _, row := range ticks {
			if until := row.Until.Time(); !until.IsZero() {
				list = append(list, spread(row.Due.Time(), until, row.Runs, string(row.Outcome), since, to)...)
			} else if at, ok := row.at(); ok {
				list = append(list, Ending{At: at, Outcome: string(row.Outcome), Runs: row.Runs})
			}
		}
		return err
	})
	return list, known, err
}

// at is when its ten minutes begin; not ok: a person has written the time in another form.
func (r endedRow) at() (at time.Time, ok bool) {
	at, err := time.Parse("2006-01-02 15:04", r.At+"0")
	return at, err == nil
}

// spread puts ticks that were missed together at even distances, and leaves those of a time.
func spread(due, until time.Time, runs int, outcome string, from, to time.Time) (list []Ending) {
	step := until.Sub(due) / time.Duration(max(runs-1, 1))
	for at := due; step > 0 && !at.After(until); at = at.Add(step) {
		if !at.Before(from) && at.Before(to) {
			list = append(list, Ending{at.Truncate(10 * time.Minute), outcome, 1, true})
		}
	}
	return list
}

const endedJobs = `SELECT substr(CAST(finished AS text), 1, 15) AS at, state AS outcome, count(*) AS runs FROM (SELECT finished, state FROM job
		WHERE finished >= $1 AND finished < $2 AND group_ <> '` + jobqueue.HookGroup + `' ORDER BY finished DESC LIMIT $3) AS j GROUP BY 1, 2`

func endedTicks(words *sqldb.Words) string {
	with, ticks, where := batch.TicksSince("$1", words.IsSQLite())
	return with + `SELECT substr(CAST(k.due AS text), 1, 15) AS at, coalesce(k.outcome, k.decision) AS outcome,
			sum(CASE WHEN k.missed > 1 THEN k.missed WHEN k.missed < 0 THEN 10000 ELSE 1 END) AS runs, CASE WHEN k.until IS NOT NULL THEN k.due END AS due, k.until FROM ` + ticks + `
		WHERE k.due < $2 AND (k.decision <> 'submitted' OR k.outcome IS NOT NULL) AND k.decided IS NOT NULL AND ` + where + ` GROUP BY 1, 2, 4, 5`
}
