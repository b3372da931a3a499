package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Reader looks for violations. It is safe for concurrent use.
type Reader struct{ db *sqldb.DB }

// New returns the reader of a database.
func New(db *sqldb.DB) Reader { return Reader{db} }

// Bounds are the limits of a check.
type Bounds struct {
	Since time.Time     // only rows that are younger count where rows grow old
	Lease time.Duration // of marks and jobs
	Most  int           // rows to return of each check
}

// Row is one place where a guarantee is violated.
type Row struct {
	About string // id of the task, job, topic or aggregate
	More  string // what tells the row from others of the same id
}

// Check is a question to the database, whose answer should be empty.
type Check struct {
	Name      string
	Guarantee string // G1 to G10; empty: consistency beside them
	Violated  string // what it means if there are rows, for people
	Remedy    string
	// Doubtful: rows may have another cause than a fault, which Remedy names.
	Doubtful bool

	tables []string // that it needs beside those of tasks
	days   string   // of the args of the housekeeping: older rows may be gone one by one
	query  string
}

// Rows runs a check. It returns no rows if the database does not have its tables.
func (r Reader) Rows(ctx context.Context, c Check, b Bounds) (rows []Row, err error) {
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		for _, table := range c.tables {
			if columns, err := tx.Columns(ctx, table); err != nil || len(columns) == 0 {
				return err
			}
		}
		now, since := tx.Now(), b.Since
		if c.days != "" {
			kept, err := keptSince(ctx, tx, c.days)
			if err != nil {
				return err
			}
			since = later(since, kept)
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

// keptSince is the time from which on the housekeeping deletes nothing, by a setting of its
// args; zero: there is none.
func keptSince(ctx context.Context, tx *sqldb.Tx, setting string) (kept time.Time, err error) {
	var args []sqldb.RowText
	err = tx.Select(ctx, &args, `SELECT args FROM periodic_task WHERE task = 'nextrun.housekeeping'`)
	for _, text := range args {
		var days map[string]int
		if json.Unmarshal([]byte(text), &days) == nil && days[setting] > 0 {
			kept = later(kept, tx.Now().AddDate(0, 0, -days[setting]))
		}
	}
	return kept, err
}

// margin is what a live instance may need until it has seen to a row.
const margin = time.Minute

// Tokens are the fencing tokens of locks and leases, by kind and name. They never fall.
func (r Reader) Tokens(ctx context.Context) (map[string]int64, error) {
	tokens := map[string]int64{}
	err := r.db.View(ctx, func(tx *sqldb.Tx) error {
		var rows []struct {
			Kind  string
			Name  sqldb.RowText
			Token sqldb.RowInt
		}
		err := tx.Select(ctx, &rows, `SELECT 'lock' AS kind, name, token FROM scheduler_lock
			UNION ALL SELECT 'topic', topic, token FROM outbox_topic
			UNION ALL SELECT 'reader', group_ || ' of ' || topic, token FROM event_offset`)
		for _, row := range rows {
			tokens[row.Kind+" "+string(row.Name)] = int64(row.Token.N)
		}
		return err
	})
	if errors.Is(err, sqldb.ErrNoSchema) {
		return tokens, nil
	}
	return tokens, err
}
