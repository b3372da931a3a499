package migrations

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
)

// The one migration, which has a file of this name for each dialect.
const (
	fileVersion = 1
	fileName    = "00001_schema.sql"
)

// text is the schema file.
func (m *Migrator) text() (string, error) {
	text, err := files.ReadFile(string(m.dialect) + "/" + fileName)
	if err != nil {
		return "", fmt.Errorf("read the schema file: %w", err)
	}
	return string(text), nil
}

// madeBy is the row of nextrun_found that has the checksum of the file that made the schema.
func madeBy(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "made by " + hex.EncodeToString(sum[:8])
}

// render returns the file as it reads for this database, given what was found in it, with the statements on the way down
// that remove what it creates. It is a template (text/template):
//
//	schema                  the schema of PostgreSQL, quoted
//	file                    the name in nextrun_found of the file that makes the schema
//	found "job"             the table was there before nextrun
//	found "joblog.counter"  so was that column
//	foundNames              all such names
//	withoutDefault "job"    expected columns that have no default of their own
func (m *Migrator) render(ctx context.Context, found map[string]bool) (string, error) {
	text, err := m.text()
	if err != nil {
		return "", err
	}
	schema, err := m.schema(ctx)
	if err != nil {
		return "", err
	}
	parsed, err := template.New(fileName).Funcs(template.FuncMap{
		"schema":     func() string { return schema },
		"file":       func() string { return madeBy(text) },
		"found":      func(name string) bool { return found[name] },
		"foundNames": func() []string { return slices.Sorted(maps.Keys(found)) },
		"withoutDefault": func(table string) []column {
			return slices.DeleteFunc(slices.Clone(expected[table]), func(c column) bool {
				return c.Default == "" || found[table+"."+c.Name+" default"]
			})
		},
	}).Parse(text)
	if err != nil {
		return "", fmt.Errorf("read the schema file: %w", err)
	}
	var filled strings.Builder
	if err := parsed.Execute(&filled, nil); err != nil {
		return "", fmt.Errorf("fill in the schema file: %w", err)
	}
	return filled.String() + drops(objectsOf(filled.String()), m.dialect), nil
}

// schema is the quoted name of the schema of PostgreSQL in which the tables are.
func (m *Migrator) schema(ctx context.Context) (string, error) {
	if m.dialect == SQLite {
		return "", nil
	}
	var schema sql.NullString
	if err := m.db.QueryRowContext(ctx, "SELECT quote_ident(current_schema())").Scan(&schema); err != nil {
		return "", fmt.Errorf("ask for the schema: %w", err)
	}
	if !schema.Valid {
		return "", errors.New("no schema of the connection's search_path exists; create it, or name another one in the URL (?search_path=...)")
	}
	return schema.String, nil
}
