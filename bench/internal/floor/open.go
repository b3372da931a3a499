package floor

import (
	"context"
	"net/url"
	"os"
	"strings"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"           // the driver postgres
	_ "github.com/mattn/go-sqlite3" // the driver sqlite3

	"github.com/nextrun/nextrun/internal/dburl"
)

// Plain runs plain statements on a database. It is safe for concurrent use.
type Plain struct {
	db     *sqlx.DB
	sqlite bool
	scrub  func(error) error
}

// Open opens a database that exists, with the settings that the connections of package store have there, but without
// timeouts of statements. schema is as in store.Options.
func Open(databaseURL, schema string) (Plain, error) {
	u, err := dburl.Parse(databaseURL)
	if err != nil {
		return Plain{}, err
	}
	var driver, source string
	if u.Postgres != nil {
		driver, source = "postgres", dsn(*u.Postgres, schema)
	} else {
		driver, source = "sqlite3", "file:"+strings.ReplaceAll(url.PathEscape(u.SQLite), "%2F", "/")+
			"?mode=rw&_busy_timeout=5000&_foreign_keys=on&_journal_mode=WAL&_synchronous=FULL&_txlock=immediate&_stmt_cache_size=64"
	}
	db, err := sqlx.Open(driver, source)
	if err != nil {
		return Plain{}, u.Scrub(err)
	}
	if u.Postgres == nil {
		db.SetMaxOpenConns(1)
	}
	return Plain{db, u.Postgres == nil, u.Scrub}, nil
}

// Close closes the connections.
func (p Plain) Close() error { return p.db.Close() }

// dsn is a URL with the parameters that package store adds.
func dsn(u url.URL, schema string) string {
	query := u.Query()
	for name, value := range map[string]string{"connect_timeout": "10", "fallback_application_name": "nextrun bench"} {
		if !query.Has(name) {
			query.Set(name, value)
		}
	}
	if !query.Has("sslmode") && os.Getenv("PGSSLMODE") == "" {
		query.Set("sslmode", "prefer")
	}
	if schema != "" {
		query.Set("search_path", strings.TrimSuffix(schema+", "+query.Get("search_path"), ", "))
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// exec runs a statement by itself, and commits it, in the one round trip that it needs.
func (p Plain) exec(ctx context.Context, statement string) error {
	_, err := p.execRows(ctx, statement)
	return err
}

// execRows is exec, and returns the number of rows that the statement touched.
func (p Plain) execRows(ctx context.Context, statement string) (int, error) {
	return p.touched(ctx, p.db, statement)
}

// touched is execRows in a transaction, or without one.
func (p Plain) touched(ctx context.Context, in sqlx.ExecerContext, statement string) (int, error) {
	result, err := in.ExecContext(ctx, statement)
	if err != nil {
		return 0, p.said(ctx, err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// rows appends the rows of a query to a slice of structs.
func (p Plain) rows(ctx context.Context, into any, query string) error {
	return p.said(ctx, p.db.SelectContext(ctx, into, query))
}

// row reads the only row of a query.
func (p Plain) row(ctx context.Context, into any, query string) error {
	return p.said(ctx, p.db.GetContext(ctx, into, query))
}

// said is what a driver said, without secrets; or the end of ctx, of which drivers have words of their own.
func (p Plain) said(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return p.scrub(err)
}
