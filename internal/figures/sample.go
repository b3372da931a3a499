package figures

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Sample are runs of a time: all of them, or a part of which each stands for Weight runs.
type Sample struct {
	Runs   []SampledRun
	Weight float64 // 1: these are all
}

// SampledRun is a run in a [Sample]: a job of a task that has begun. One that has not ended by the end of the time stands for itself.
type SampledRun struct {
	TaskID, Handler, Group string
	State                  string
	Started                time.Time
	Finished               time.Time // zero: it has not ended
	Weight                 float64
}

const (
	mostCounted = 500_000 // runs of a sample's time; more are taken for as many
	strata      = 192     // parts of the time, of each of which a sample has an equal part
	mostOpen    = 2000    // runs that have not ended
)

// Sample reads the runs that ended in a time, and those that began in it and ended later or have
// not ended. Of more than most of them, it reads those that ended in short times, which lie evenly in
// all of it: whoever takes long is in the sample as often as others. With a group, only its
// runs are returned.
func (r Reader) Sample(ctx context.Context, from, to time.Time, most int, group string) (s Sample, err error) {
	s.Weight = 1
	var rows []sampleRow
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		jobs, err := ownJobs(ctx, tx)
		if err != nil || !jobs {
			return err
		}
		count, err := ended(ctx, tx, from, to, mostCounted)
		if err != nil {
			return err
		}
		var query string
		args := []any{group, mostOpen, sqldb.Timestamp(to)}
		if s.Weight = max(1, float64(count)/float64(most)); s.Weight > 1 {
			if query, args, err = sampleQuery(tx, from, to, 1/s.Weight, args); err != nil {
				return err
			}
		} else {
			query, args = sampled(1, "job")+"finished > $4 AND finished <= $3", append(args, sqldb.Timestamp(from))
		}
		query += ` UNION ALL SELECT * FROM (` + sampled(0, "job") + `finished > $3 AND started < $3 ORDER BY finished LIMIT $2) AS later
			UNION ALL SELECT * FROM (` + sampled(0, "job") + `state IN ('scheduled', 'running') LIMIT $2) AS running`
		return tx.Select(ctx, &rows, query, args...)
	})
	if err != nil {
		return s, fmt.Errorf("read a sample of the runs: %w", err)
	}
	s.Runs = make([]SampledRun, len(rows))
	for i, row := range rows {
		if s.Runs[i] = row.run(); row.Sampled == 1 {
			s.Runs[i].Weight = s.Weight
		}
	}
	return s, nil
}

// Ended counts the jobs that ended in a time, up to most.
func (r Reader) Ended(ctx context.Context, from, to time.Time, most int) (n int, err error) {
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		jobs, err := ownJobs(ctx, tx)
		if err == nil && jobs {
			n, err = ended(ctx, tx, from, to, most)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count the runs: %w", err)
	}
	return n, nil
}

// JobEnds are jobs of a task that ended in one state.
type JobEnds struct {
	TaskID, State string
	Jobs          int
	Latest        time.Time
}

// JobEnds counts the jobs that ended since a time, by task and state, those with the most jobs first: of more than most, the newest.
func (r Reader) JobEnds(ctx context.Context, since time.Time, most int) (list []JobEnds, err error) {
	var rows []struct {
		Tracker sqldb.RowText
		State   string
		Jobs    int
		Latest  sqldb.RowTime
	}
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		jobs, err := ownJobs(ctx, tx)
		if err != nil || !jobs {
			return err
		}
		return tx.Select(ctx, &rows, `SELECT tracker, state, count(*) AS jobs, max(finished) AS latest
			FROM (SELECT tracker, state, finished FROM job WHERE finished > $1 ORDER BY finished DESC LIMIT $2) AS j
			GROUP BY tracker, state ORDER BY jobs DESC, tracker`, sqldb.Timestamp(since), most)
	})
	if err != nil {
		return nil, fmt.Errorf("count how jobs ended: %w", err)
	}
	for _, row := range rows {
		list = append(list, JobEnds{string(row.Tracker), row.State, row.Jobs, row.Latest.Time()})
	}
	return list, nil
}

func ended(ctx context.Context, tx *sqldb.Tx, from, to time.Time, most int) (n int, err error) {
	err = tx.First(ctx, &n, `SELECT count(*) FROM (SELECT 1 AS one FROM job WHERE finished > $1 AND finished <= $2 LIMIT $3) AS c`,
		sqldb.Timestamp(from), sqldb.Timestamp(to), most)
	return n, err
}

// sampleQuery reads a part of each stratum by a range of an index. Where the part lies follows the
// golden ratio, so that it is not always the same time of the minute or of the hour.
func sampleQuery(tx *sqldb.Tx, from, to time.Time, part float64, args []any) (string, []any, error) {
	width := float64(to.Sub(from)) / strata
	parts, err := tx.DB().Records(len(args)+1, []sqldb.Field{sqldb.Time("begins"), sqldb.Time("ends")}, strata, func(i int) []any {
		_, place := math.Modf(float64(i) * math.Phi)
		begin := from.Add(time.Duration((float64(i) + place*(1-part)) * width))
		return []any{begin, begin.Add(time.Duration(part * width))}
	})
	const in = "finished > part.begins AND finished <= part.ends"
	table := parts.SQL + " AS part CROSS JOIN job"
	if !tx.SQL().IsSQLite() { // it might begin with the jobs
		table = parts.SQL + " AS part CROSS JOIN LATERAL (SELECT * FROM job WHERE " + in + " OFFSET 0) AS job"
	}
	return sampled(1, table) + in, append(args, parts.Param), err
}

func sampled(is int, from string) string {
	return fmt.Sprintf(`SELECT %d AS sampled, tracker, task, group_, state, started, finished FROM %s
		WHERE ($1 = '' OR group_ = $1) AND tracker IS NOT NULL AND started IS NOT NULL AND `, is, from)
}

type sampleRow struct {
	Sampled  int
	TaskID   sqldb.RowText `db:"tracker"`
	Handler  sqldb.RowText `db:"task"`
	Group    sqldb.RowText `db:"group_"`
	State    string
	Started  sqldb.RowTime
	Finished sqldb.RowTime
}

func (r sampleRow) run() SampledRun {
	return SampledRun{TaskID: string(r.TaskID), Handler: string(r.Handler), Group: string(r.Group), State: r.State,
		Started: r.Started.Time(), Finished: r.Finished.Time(), Weight: 1}
}
