// Package database has what the chaos needs of both databases: how their SQL differs, and the tables that it adds.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Dialect answers questions about a database.
type Dialect struct {
	Name     string
	Tables   []string                 // statements that make the log of changes and the queue of somebody else
	OwnClock bool                     // its clock is not that of the processes
	Now      string                   // SQL for the time
	Ago      func(seconds int) string // SQL for a time
}

// Postgres is PostgreSQL. The tables belong to the role nextrun.
var Postgres = Dialect{
	Name: "postgres", Tables: postgresTables(), OwnClock: true,
	Now: "now() AT TIME ZONE 'UTC'",
	Ago: func(seconds int) string {
		return fmt.Sprintf("now() AT TIME ZONE 'UTC' - interval '%d seconds'", seconds)
	},
}

// SQLite is SQLite. A file has the clock of those who use it.
var SQLite = Dialect{
	Name: "sqlite", Tables: sqliteTables(),
	Now: "strftime('%Y-%m-%d %H:%M:%f', 'now') || '000'",
	Ago: func(seconds int) string {
		return fmt.Sprintf("strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', '-%d seconds')", seconds)
	},
}

// Exec runs statements one after the other.
func Exec(ctx context.Context, db *sql.DB, statements ...string) error {
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%w in %s", err, s)
		}
	}
	return nil
}

// Until waits until a query says true.
func Until(ctx context.Context, db *sql.DB, patience time.Duration, query string) error {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	var yes bool
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end) && ctx.Err() == nil; {
		if err = db.QueryRowContext(ctx, query).Scan(&yes); err == nil && yes {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
	return fmt.Errorf("not within %s: %s: %w", patience, query, errors.Join(err, ctx.Err()))
}
