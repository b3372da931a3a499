package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// reader looks for rows that the guarantees rule out: each check in one statement, so that what it sees
// is of one moment.
type reader struct{ db *sqldb.DB }

// limits are those of a check.
type limits struct {
	Since time.Time     // only rows that are younger count where rows grow old
	Lease time.Duration // of marks
	Most  int           // rows to return of each check
}

// check is a question to the database, whose answer should be empty.
type check struct {
	Name      string
	Guarantee string // G1 to G10; empty: consistency beside them
	Violated  string // what it means if there are rows, for people
	Remedy    string
	// Doubtful: rows may have another cause than a fault, which Remedy names.
	Doubtful bool

	tables []string // that it needs beside those of tasks
	young  bool     // only rows of a day count: older ones may be gone one by one
	query  string
}

// rows runs a check. It returns no rows if the database does not have its tables.
func (r reader) rows(ctx context.Context, c check, b limits) (rows []Row, err error) {
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		for _, table := range c.tables {
			if columns, err := tx.Columns(ctx, table); err != nil || len(columns) == 0 {
				return err
			}
		}
		now, since := tx.Now(), b.Since
		if c.young {
			since = later(since, now.Add(-24*time.Hour))
		}
		var found []struct{ About, More sqldb.RowText }
		// $1 to $4 are known to all of them, in these types.
		query := `WITH p AS (SELECT CAST($1 AS timestamp) AS since, CAST($2 AS timestamp) AS stale, CAST($3 AS timestamp) AS recent) ` + c.query + ` LIMIT $4`
		if tx.SQL().IsSQLite() { // where such a cast makes a number of a text
			query = `WITH p AS (SELECT $1 AS since, $2 AS stale, $3 AS recent) ` + c.query + ` LIMIT $4`
		}
		err := tx.Select(ctx, &found, query, sqldb.Timestamp(since), sqldb.Timestamp(now.Add(-b.Lease-margin)),
			sqldb.Timestamp(now.Add(-margin)), b.Most)
		for _, f := range found {
			rows = append(rows, Row{string(f.About), string(f.More)})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("check %q: %w", c.Name, err)
	}
	return rows, nil
}

// margin is what a live instance may need until it has seen to a row.
const margin = time.Minute
