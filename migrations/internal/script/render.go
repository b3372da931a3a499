package script

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// State is what the files depend on.
type State struct {
	Found  map[string]bool // what was there before nextrun, as [tables.Found] names it
	Schema string          // of PostgreSQL, quoted
}

// Render returns the files with their templates filled in.
func (f Files) Render(s State) (fs.FS, error) {
	dialect, found := f.Dialect, s.Found
	made, err := f.Made()
	if err != nil {
		return nil, err
	}
	functions := map[string]function{
		"schema": func(...string) any { return s.Schema },
		"file":   func(...string) any { return made },
		"found":  func(args ...string) any { return found[args[0]] },
		"not":    func(args ...string) any { return args[0] == "false" },
		"eq":     func(args ...string) any { return args[0] == args[1] },
		"foundNames": func(...string) any {
			var list []any
			for _, name := range slices.Sorted(maps.Keys(found)) {
				list = append(list, name)
			}
			return list
		},
		"withoutDefault": func(args ...string) any {
			var list []any
			for _, c := range tables.All[args[0]] {
				if c.Default != "" && !found[args[0]+"."+c.Name+" default"] {
					list = append(list, fields{"Name": c.Name, "Default": c.Default})
				}
			}
			return list
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
		sql, err := fill(path, string(source), functions)
		if err != nil {
			return nil, fmt.Errorf("fill in %s: %w", path, err)
		}
		out[strings.TrimPrefix(path, string(dialect)+"/")] = &fstest.MapFile{Data: []byte(sql)}
	}
	return out, nil
}
