// Package script has the schema files as texts: how they read for a database, and what they
// create. It knows no connection.
//
// They are templates (text/template) over what was there before nextrun:
//
//	schema                  the schema of PostgreSQL, quoted
//	file                    the name in nextrun_found of the file that makes the schema
//	found "job"             the table was there before nextrun
//	found "joblog.counter"  so was that column
//	foundNames              all such names
//	withoutDefault "job"    expected columns that have no default of their own
package script

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// The one migration, which has a file of this name for each dialect.
const (
	Version = 1
	Name    = "00001_schema.sql"
)

// MadeBy begins the row of nextrun_found that has the checksum of the file that made the schema.
const MadeBy = "made by "

// Source is the schema file of a dialect.
type Source struct {
	FS      fs.FS // with a folder for each dialect
	Dialect tables.Dialect
}

// State is what the file depends on.
type State struct {
	Found  map[string]bool // what was there before nextrun, as [tables.Found] names it
	Schema string          // of PostgreSQL, quoted
}

// Made is the row of nextrun_found that begins with [MadeBy].
func (s Source) Made() (string, error) {
	text, err := s.text()
	sum := sha256.Sum256([]byte(text))
	return MadeBy + hex.EncodeToString(sum[:8]), err
}

func (s Source) text() (string, error) {
	text, err := fs.ReadFile(s.FS, string(s.Dialect)+"/"+Name)
	if err != nil {
		return "", fmt.Errorf("read the schema file: %w", err)
	}
	return string(text), nil
}

// Render returns the file with its templates filled in, and with the statements on the way down that
// remove what it creates.
func (s Source) Render(state State) (string, error) {
	text, err := s.filled(state)
	return text + drops(Objects(text), s.Dialect), err
}

func (s Source) filled(state State) (string, error) {
	text, err := s.text()
	if err != nil {
		return "", err
	}
	made, err := s.Made()
	if err != nil {
		return "", err
	}
	parsed, err := template.New(Name).Funcs(template.FuncMap{
		"schema":     func() string { return state.Schema },
		"file":       func() string { return made },
		"found":      func(name string) bool { return state.Found[name] },
		"foundNames": func() []string { return slices.Sorted(maps.Keys(state.Found)) },
		"withoutDefault": func(table string) []tables.Column {
			return slices.DeleteFunc(slices.Clone(tables.All[table]), func(c tables.Column) bool {
				return c.Default == "" || state.Found[table+"."+c.Name+" default"]
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
	return filled.String(), nil
}
