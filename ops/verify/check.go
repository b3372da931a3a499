package verify

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// check is a question to the database, whose answer should be empty.
type check struct {
	Name      string
	Guarantee string // G1 to G10; empty: consistency beside them
	Violated  string // what it means if there are rows, for people
	Remedy    string
	// Doubtful: rows may have another cause than a fault, which Remedy names.
	Doubtful bool

	young bool // only rows of a day count: older ones may be gone one by one
	query string
}

// mostRows is how many rows a finding names.
const mostRows = 20

// rows runs a check, in one statement, so that what it sees is of one moment.
func (r *run) rows(ctx context.Context, c check) error {
	f := Finding{Level: Violation, Check: c.Name, Guarantee: c.Guarantee, Text: c.Violated, Remedy: c.Remedy}
	if c.Doubtful {
		f.Level = Doubt
	}
	err := r.db.View(ctx, func(tx *sqldb.Tx) error {
		now, since := tx.Now(), r.o.Since
		if c.young {
			since = later(since, now.Add(-24*time.Hour))
		}
		var found []struct{ About, More sqldb.RowText }
		// $1 to $4 are known to all of them, in these types.
		query := `WITH p AS (SELECT CAST($1 AS timestamp) AS since, CAST($2 AS timestamp) AS stale, CAST($3 AS timestamp) AS recent) ` + c.query + ` LIMIT $4`
		if tx.SQL().IsSQLite() { // where such a cast makes a number of a text
			query = `WITH p AS (SELECT $1 AS since, $2 AS stale, $3 AS recent) ` + c.query + ` LIMIT $4`
		}
		err := tx.Select(ctx, &found, query, sqldb.Timestamp(since), sqldb.Timestamp(now.Add(-r.o.Lease-margin)),
			sqldb.Timestamp(now.Add(-margin)), mostRows+1)
		for _, row := range found {
			f.Rows = append(f.Rows, Row{string(row.About), string(row.More)})
		}
		return err
	})
	if err == nil {
		r.found(f)
	}
	return err
}

// margin is what a live instance may need until it has seen to a row.
const margin = time.Minute
