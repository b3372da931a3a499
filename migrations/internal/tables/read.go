package tables

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Querier is a database or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// actual is a column as the database has it.
type actual struct {
	name       string
	declared   string
	notNull    bool
	hasDefault bool
}

// Exists reports whether there is a table.
func Exists(ctx context.Context, q Querier, dialect Dialect, table string) (bool, error) {
	have, err := columns(ctx, q, dialect, table)
	return len(have) > 0, err
}

// Found names what is there of the tables in [All]: tables ("job"), optional columns
// ("joblog.counter") and defaults ("job.args default").
func Found(ctx context.Context, q Querier, dialect Dialect) (map[string]bool, error) {
	found := map[string]bool{}
	for _, table := range slices.Sorted(maps.Keys(All)) {
		have, err := columns(ctx, q, dialect, table)
		if err != nil {
			return nil, err
		}
		if len(have) > 0 {
			found[table] = true
		}
		for _, a := range have {
			want := Expected(table, a.name)
			if want != nil && want.optional {
				found[table+"."+a.name] = true
			}
			if want != nil && want.Default != "" && a.hasDefault {
				found[table+"."+a.name+" default"] = true
			}
		}
	}
	return found, nil
}

// columns lists the columns of a table, none if there is no such table.
func columns(ctx context.Context, q Querier, dialect Dialect, table string) ([]actual, error) {
	query := `SELECT column_name, data_type, is_nullable = 'NO', column_default IS NOT NULL OR is_identity = 'YES'
		FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`
	if dialect == SQLite {
		query = `SELECT name, type, "notnull" OR pk > 0, dflt_value IS NOT NULL FROM pragma_table_info(?1) ORDER BY cid`
	}
	rows, err := q.QueryContext(ctx, query, table)
	if err != nil {
		return nil, fmt.Errorf("read columns of %s: %w", table, err)
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	var list []actual
	for rows.Next() {
		var a actual
		if err := rows.Scan(&a.name, &a.declared, &a.notNull, &a.hasDefault); err != nil {
			return nil, fmt.Errorf("read columns of %s: %w", table, err)
		}
		a.name = strings.ToLower(a.name)
		list = append(list, a)
	}
	return list, rows.Err()
}
