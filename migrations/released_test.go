package migrations_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
)

// released are the migrations of releases. A database that has one never gets it again, so it is never edited: a change is a
// new file, with its checksum here when it is released.
var released = map[migrations.Dialect][]string{
	migrations.Postgres: {"00001_schema.sql made by b1fc6f0899422080"},
	migrations.SQLite:   {"00001_schema.sql made by 602a95c59eb030ed"},
}

func TestReleasedMigrationsAreNotEdited(t *testing.T) {
	for dialect, want := range released {
		list := migrations.Checksums(dialect)
		if len(list) < len(want) || !slices.Equal(list[:len(want)], want) {
			t.Errorf("%s: the migrations are %q, released were %q", dialect, list, want)
		}
	}
}

// next is a migration that adds a column, on either database.
const next = "\n-- oldest: 1\n-- +goose Up\nALTER TABLE periodic_task ADD COLUMN mood text NOT NULL DEFAULT 'fine';\n-- +goose Down\n"

// A database of each release that is brought up to date has the schema of a new one, and its rows as they were.
func TestDatabaseOfEachRelease(t *testing.T) {
	t.Parallel()
	storetest.Kinds(t, func(t *testing.T, kind string) {
		update := func(db *database) {
			if _, err := db.m.With("00099_mood.sql", next).Up(db.Context()); err != nil {
				t.Fatal(err)
			}
		}
		fresh := open(storetest.New(t, kind))
		update(fresh)
		for n, name := range released[migrations.Dialect(kind)] {
			db := open(storetest.New(t, kind))
			if _, err := db.m.First(n + 1).Up(db.Context()); err != nil {
				t.Fatal(err)
			}
			db.execFile("testdata/rows.sql")
			columns := db.columns()
			before := db.rows(columns)
			update(db)
			if got, want := db.dump(), fresh.dump(); got != want {
				t.Errorf("%s, brought up to date:\n%s\na new database:\n%s", name, got, want)
			}
			if after := db.rows(columns); after != before {
				t.Errorf("%s: the rows were\n%s\nand are\n%s", name, before, after)
			}
		}
	})
}

// columns are those of each table but nextrun's accounts of migrations, separated by commas.
func (db *database) columns() map[string]string {
	db.Helper()
	query := "SELECT string_agg(table_name || ' ' || columns, ';') FROM (SELECT table_name, string_agg(column_name, ',') AS columns FROM " +
		"information_schema.columns JOIN information_schema.tables USING (table_schema, table_name) WHERE table_schema = 'public' AND table_type = 'BASE TABLE' GROUP BY 1) AS t"
	if db.Kind == storetest.SQLite {
		query = "SELECT group_concat(t || ' ' || columns, ';') FROM (SELECT s.name AS t, group_concat(c.name) AS columns FROM sqlite_schema AS s, pragma_table_info(s.name) AS c " +
			"WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite%' GROUP BY 1)"
	}
	tables := map[string]string{}
	for _, line := range strings.Split(db.one(query), ";") {
		if table, columns, _ := strings.Cut(line, " "); !strings.HasPrefix(table, "nextrun_") {
			tables[table] = columns
		}
	}
	return tables
}

// rows are those of tables, of each the columns that are named; a table without rows is an error.
func (db *database) rows(tables map[string]string) (text string) {
	db.Helper()
	row, aggregate := "ROW(%s)::text", "string_agg"
	if db.Kind == storetest.SQLite {
		row, aggregate = "json_array(%s)", "group_concat"
	}
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		rows := db.one(fmt.Sprintf("SELECT coalesce(%s(r, '\n'), '') FROM (SELECT "+row+" AS r FROM %s ORDER BY 1) AS t", aggregate, tables[table], table))
		if rows == "" {
			db.Errorf("%s has no rows", table)
		}
		text += table + ":\n" + rows + "\n"
	}
	return text
}
