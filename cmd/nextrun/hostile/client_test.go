package hostile_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// The kinds of databases.
const (
	sqlite   = "sqlite"
	postgres = "postgres"
)

// database is one that people change with its own client, not with a driver for Go.
type database struct {
	*testing.T
	kind, url string
}

// newDatabase makes an empty database of a kind.
func newDatabase(t *testing.T, kind string) database {
	t.Helper()
	if kind == sqlite {
		storetest.Client(t, storetest.SQLite)
		return database{t, kind, storetest.SQLiteURL(t)}
	}
	storetest.Client(t, storetest.Postgres)
	return database{t, kind, storetest.PostgresURL(t)}
}

func (d database) isSQLite() bool { return d.kind == sqlite }

// run runs a script in the client, which stops at the first error. It returns what the
// client printed, a line each row, and what it said was wrong.
func (d database) run(script string) (out string, refused error) {
	var command *exec.Cmd
	if d.isSQLite() {
		command = exec.Command("sqlite3", "-bail", "-batch", "-noheader", strings.TrimPrefix(d.url, "sqlite:"))
		script = ".timeout 60000\n" + script
	} else {
		command = exec.Command("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", d.url)
	}
	var stderr bytes.Buffer
	command.Stdin, command.Stderr = strings.NewReader(script), &stderr
	text, err := command.Output()
	if err != nil {
		return string(text), fmt.Errorf("%w: %s", err, firstLine(stderr.String()))
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}

// must runs a script that has to succeed.
func (d database) must(script string) string {
	d.Helper()
	out, err := d.run(script)
	if err != nil {
		d.Fatalf("%.2000s: %v", script, err)
	}
	return out
}

// rows returns the rows that a query prints.
func (d database) rows(query string) [][]string {
	d.Helper()
	var rows [][]string
	for line := range strings.SplitSeq(d.must(query+";"), "\n") {
		if line != "" {
			rows = append(rows, strings.Split(line, "|"))
		}
	}
	return rows
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// column is one of a table, as the catalog has it.
type column struct {
	table, name string
	kind        kind
	null        bool // it takes NULL
}

// kind is what a column is made for.
type kind string

const (
	text   kind = "text"
	number kind = "number"
	moment kind = "time"
	truth  kind = "truth"
	other  kind = "other" // JSON, arrays, bytes, enumerations
)

// columns reads all columns of all tables from the catalog, so that one that is added
// later is covered by itself.
func (d database) columns() []column {
	d.Helper()
	query := `SELECT CASE table_schema WHEN current_schema() THEN '' ELSE table_schema || '.' END || table_name, column_name, data_type, is_nullable
		FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
		WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema') AND is_generated = 'NEVER'
			AND identity_generation IS DISTINCT FROM 'ALWAYS'
		ORDER BY table_schema, table_name, ordinal_position`
	if d.isSQLite() {
		query = `SELECT m.name, c.name, c.type, CASE c."notnull" WHEN 0 THEN 'YES' ELSE 'NO' END FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY m.name, c.cid`
	}
	var list []column
	for _, row := range d.rows(query) {
		list = append(list, column{row[0], row[1], kindOf(row[2]), row[3] == "YES"})
	}
	return list
}

func kindOf(declared string) kind {
	declared = strings.ToLower(declared)
	for _, k := range []struct {
		part string
		kind kind
	}{
		{"bool", truth}, {"time", moment}, {"char", text}, {"text", text}, {"int", number}, {"numeric", number}, {"double", number},
	} {
		if strings.Contains(declared, k.part) {
			return k.kind
		}
	}
	return other
}
