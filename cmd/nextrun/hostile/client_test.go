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
