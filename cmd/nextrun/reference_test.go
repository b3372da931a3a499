package main_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// referenceTable is a table of docs/reference.md: its lines, cell by cell.
type referenceTable struct {
	section string // the heading above it
	head    []string
	lines   [][]string
}

func referenceTables(t *testing.T) (tables []*referenceTable) {
	t.Helper()
	var section string
	var table *referenceTable
	for line := range strings.SplitSeq(readFile(t, "../../docs/reference.md"), "\n") {
		heading := strings.TrimLeft(line, "#")
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case heading != line:
			section = strings.TrimSpace(heading)
		case !strings.HasPrefix(line, "|"):
			table = nil
		case table == nil:
			table = &referenceTable{section: section, head: cells}
			tables = append(tables, table)
		case strings.HasPrefix(line, "|---"):
		case strings.HasPrefix(line, "| | "): // more about the line above
		default:
			table.lines = append(table.lines, cells)
		}
	}
	return tables
}

// plain is a cell without its backticks.
func plain(cell string) string { return strings.Trim(cell, "`") }

// ownTables is the section with the tables of which the page says no more than what they are for.
const ownTables = "Tables that nextrun keeps for itself"

// The page has the tables, views and columns of a new database, with types and defaults where people
// write. Of tables that nextrun keeps for itself it has no columns.
func TestReferenceTables(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		nextrun(t, d.URL, ui.Done, "migrate", "up")
		have, want := describedColumns(t, d.Kind), databaseColumns(t, d)
		for _, own := range names(t, ownTables) {
			before := len(want)
			if maps.DeleteFunc(want, func(column, _ string) bool { return strings.HasPrefix(column, own+".") }); len(want) == before {
				t.Errorf("docs/reference.md has the table %s, the database has not", own)
			}
		}
		for _, column := range slices.Sorted(maps.Keys(want)) {
			if have[column] != want[column] && have[column] != named {
				t.Errorf("docs/reference.md says %q of %s, the database %q", have[column], column, want[column])
			}
			delete(have, column)
		}
		for column := range have {
			t.Errorf("docs/reference.md has the column %s, the database has not", column)
		}
	})
}

// The tables of columns in the code have all columns that the page has of a task and a job, but
// those that only the database uses.
func TestReferenceColumnsAreInTheCode(t *testing.T) {
	t.Parallel()
	known := map[string][]string{"periodic_task": {"resumed", "rev", "since"}, "job": {"startedmillis"}}
	for _, c := range periodic.Columns() {
		known["periodic_task"] = append(known["periodic_task"], c.InTable())
	}
	for _, c := range jobqueue.Columns() {
		known["job"] = append(known["job"], c.InTable())
	}
	for table, columns := range known {
		have := names(t, table)
		slices.Sort(have)
		if slices.Sort(columns); !slices.Equal(have, columns) {
			t.Errorf("docs/reference.md has of %s\n%q, the code\n%q", table, have, columns)
		}
	}
}

// named is a column of which the page says what it means, without type and default.
const named = "named"

// describedColumns are the columns of the page: "type, default" or named, by table.column.
func describedColumns(t *testing.T, kind string) map[string]string {
	t.Helper()
	columns := map[string]string{}
	for _, table := range referenceTables(t) {
		if table.head[0] != "column" {
			continue
		}
		for _, line := range table.lines {
			if len(line) != len(table.head) {
				t.Errorf("docs/reference.md: this line of %s has %d cells, its head %d: %q", table.section, len(line), len(table.head), line)
				continue
			}
			about := named
			if len(line) == 4 {
				about = cellFor(kind, line[1]) + ", " + cellFor(kind, line[2])
			}
			for _, name := range strings.Split(line[0], ", ") {
				columns[table.section+"."+plain(name)] = about
			}
		}
	}
	return columns
}

// cellFor is what a cell says of a kind of database.
func cellFor(kind, cell string) string {
	text, ofSQLite, two := strings.Cut(cell, "; SQLite: ")
	if two && kind == "sqlite" {
		text = ofSQLite
	}
	return plain(text)
}

// columnsOf lists table or view, whether it is a view, column, type, default,
// whether NULL is refused, and whether the database counts.
var columnsOf = map[string]string{
	"postgres": `SELECT c.table_name, t.table_type = 'VIEW', c.column_name, c.data_type, coalesce(c.column_default, ''),
			c.is_nullable = 'NO', c.is_identity = 'YES' OR coalesce(c.column_default, '') LIKE 'nextval(%'
		FROM information_schema.columns AS c JOIN information_schema.tables AS t USING (table_schema, table_name)
		WHERE table_schema = current_schema()`,
	"sqlite": `SELECT m.name, m.type = 'view', c.name, lower(c.type), coalesce(c.dflt_value, ''), c."notnull",
			lower(c.type) = 'integer' AND c.pk = 1
		FROM sqlite_schema AS m, pragma_table_info(m.name) AS c WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite_%'`,
}

func databaseColumns(t *testing.T, d *storetest.Database) map[string]string {
	t.Helper()
	rows, err := d.SQL.QueryContext(t.Context(), columnsOf[d.Kind])
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns := map[string]string{}
	for rows.Next() {
		var table, column, typed, byDefault string
		var view, required, counted bool
		if err := rows.Scan(&table, &view, &column, &typed, &byDefault, &required, &counted); err != nil {
			t.Fatal(err)
		}
		about := "view"
		if !view {
			about = inWords(typed) + ", " + defaultInWords(byDefault, inWords(typed) == "boolean", required, counted)
		}
		columns[table+"."+column] = about
	}
	if err := rows.Err(); err != nil || len(columns) < 100 {
		t.Fatalf("found %d columns only: %v", len(columns), err)
	}
	return columns
}

// inWords is a type as the page calls it.
func inWords(typed string) string {
	switch name, _, _ := strings.Cut(typed, "("); name {
	case "character varying", "varchar":
		return "text"
	case "text":
		return "long text"
	case "bigint":
		return "integer"
	case "timestamp without time zone", "timestamp":
		return "time"
	case "double precision":
		return "float"
	default:
		return name
	}
}

// defaultInWords is a default as the page calls it.
func defaultInWords(expression string, boolean, required, counted bool) string {
	literal := regexp.MustCompile(`^'[^']*'`).FindString(expression)
	switch {
	case counted:
		return "counted"
	case expression == "" && required:
		return "required"
	case expression == "":
		return "NULL"
	case literal == "''":
		return "empty"
	case literal != "":
		return strings.TrimSuffix(strings.Trim(literal, "'"), ".000000")
	case strings.Contains(expression, "clock_timestamp"), strings.Contains(expression, "'now'"), expression == "now()":
		return "now"
	case strings.Contains(expression, "random"):
		return "random"
	case boolean:
		return map[string]string{"0": "false", "1": "true", "false": "false", "true": "true"}[expression]
	}
	return expression
}
