package figures

import (
	"context"
	"fmt"
	"math"
	"strings"
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
		count, err := ended(ctx, tx, from, to)
		if err != nil {
			return err
		}
		var query string
		args := []any{group, mostOpen, sqldb.Timestamp(to)}
		if s.Weight = max(1, float64(count)/float64(most)); s.Weight > 1 {
			query, args = sampleQuery(from, to, 1/s.Weight, args)
		} else {
			query, args = sampled(1)+"finished > $4 AND finished <= $3", append(args, sqldb.Timestamp(from))
		}
		query += ` UNION ALL SELECT * FROM (` + sampled(0) + `finished > $3 AND started < $3 ORDER BY finished LIMIT $2) AS later
			UNION ALL SELECT * FROM (` + sampled(0) + `state IN ('scheduled', 'running') LIMIT $2) AS running`
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

// Ended counts the jobs that ended in a time, up to 500,000.
func (r Reader) Ended(ctx context.Context, from, to time.Time) (n int, err error) {
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		jobs, err := ownJobs(ctx, tx)
		if err == nil && jobs {
			n, err = ended(ctx, tx, from, to)
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

func ended(ctx context.Context, tx *sqldb.Tx, from, to time.Time) (n int, err error) {
	err = tx.First(ctx, &n, `SELECT count(*) FROM (SELECT 1 AS one FROM job WHERE finished > $1 AND finished <= $2 LIMIT $3) AS c`,
		sqldb.Timestamp(from), sqldb.Timestamp(to), mostCounted)
	return n, err
}

// sampleQuery reads a part of each stratum by a range of an index. Where the part lies follows the
// golden ratio, so that it is not always the same time of the minute or of the hour.
func sampleQuery(from, to time.Time, part float64, args []any) (string, []any) {
	var arms []string
	width := float64(to.Sub(from)) / strata
	for i := range strata {
		_, place := math.Modf(float64(i) * math.Phi)
		begin := from.Add(time.Duration((float64(i) + place*(1-part)) * width))
		arms = append(arms, sampled(1)+fmt.Sprintf("finished > $%d AND finished <= $%d", len(args)+1, len(args)+2))
		args = append(args, sqldb.Timestamp(begin), sqldb.Timestamp(begin.Add(time.Duration(part*width))))
	}
	return strings.Join(arms, " UNION ALL "), args
}

func sampled(is int) string {
	return fmt.Sprintf(`SELECT %d AS sampled, tracker, task, group_, state, started, finished FROM job
		WHERE ($1 = '' OR group_ = $1) AND tracker IS NOT NULL AND started IS NOT NULL AND `, is)
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
