package script

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing/fstest"
	"text/template"

	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// State is what the files depend on.
type State struct {
	Version int64           // of the schema, before anything is applied
	Found   map[string]bool // what was there before nextrun, as [tables.Found] names it, and [WithoutJobs]
	Schema  string          // of PostgreSQL, quoted
}

// Render returns the files with their templates filled in.
func (f Files) Render(s State) (fs.FS, error) {
	dialect, found := f.Dialect, s.Found
	funcs := template.FuncMap{
		"firstTime":  func() bool { return s.Version == 0 },
		"schema":     func() string { return s.Schema },
		"found":      func(name string) bool { return found[name] },
		"foundNames": func() []string { return slices.Sorted(maps.Keys(found)) },
		"withoutDefault": func(table string) []tables.Column {
			return slices.DeleteFunc(slices.Clone(tables.All[table]), func(c tables.Column) bool {
				return c.Default == "" || found[table+"."+c.Name+" default"]
			})
		},
	}
	paths, err := fs.Glob(f.FS, string(dialect)+"/*.sql")
	if err != nil {
		return nil, err
	}
	out := fstest.MapFS{}
	for _, path := range paths {
		source, err := fs.ReadFile(f.FS, path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		t, err := template.New(path).Funcs(funcs).Parse(string(source))
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", path, err)
		}
		var text strings.Builder
		if err := t.Execute(&text, nil); err != nil {
			return nil, fmt.Errorf("fill in %s: %w", path, err)
		}
		sql := text.String()
		if found[WithoutJobs] {
			sql = leaveOutJobs(sql)
		}
		out[strings.TrimPrefix(path, string(dialect)+"/")] = &fstest.MapFile{Data: []byte(lenientDown(dialect, sql))}
	}
	return out, nil
}

var dropping = regexp.MustCompile(`\bDROP (TABLE|TRIGGER|FUNCTION|VIEW|INDEX|COLUMN) `)

// lenientDown adds IF EXISTS to the DROPs of a migration's second half: an object may
// be missing because an earlier state of the file made none or somebody dropped it.
func lenientDown(dialect tables.Dialect, text string) string {
	up, down, _ := strings.Cut(text, "-- +goose Down")
	down = dropping.ReplaceAllStringFunc(down, func(drop string) string {
		if dialect == tables.SQLite && strings.Contains(drop, "COLUMN") {
			return drop // it has no IF EXISTS for columns
		}
		return drop + "IF EXISTS "
	})
	return up + "-- +goose Down" + down
}
