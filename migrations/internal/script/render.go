package script

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing/fstest"
	"text/template"

	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// State is what the files depend on.
type State struct {
	Found  map[string]bool // what was there before nextrun, as [tables.Found] names it, and [WithoutJobs]
	Schema string          // of PostgreSQL, quoted
}

// Render returns the files with their templates filled in.
func (f Files) Render(s State) (fs.FS, error) {
	dialect, found := f.Dialect, s.Found
	funcs := template.FuncMap{
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
		out[strings.TrimPrefix(path, string(dialect)+"/")] = &fstest.MapFile{Data: []byte(sql)}
	}
	return out, nil
}
