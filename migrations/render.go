package migrations

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"
	"text/template"
)

// found names what was in the database before nextrun: tables ("job"),
// optional columns ("joblog.counter") and defaults ("job.args default"). Before
// the first migration it is read off the database, later off the record.
func (m *Migrator) found(ctx context.Context, version int64) (map[string]bool, error) {
	if version > 0 {
		return m.recorded(ctx)
	}
	found := map[string]bool{}
	if m.leaveOutJobs {
		found[WithoutJobs] = true
	}
	return found, m.foundTables(ctx, m.wanted(), found)
}

// wanted are the tables that the first Up makes.
func (m *Migrator) wanted() []string {
	names := sorted(tables)
	if m.leaveOutJobs {
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(jobTables, name) })
	}
	return names
}

// foundTables adds to found what is there of some tables.
func (m *Migrator) foundTables(ctx context.Context, names []string, found map[string]bool) error {
	for _, table := range names {
		want := tables[table]
		have, err := m.columns(ctx, table)
		if err != nil {
			return err
		}
		if len(have) == 0 {
			continue
		}
		found[table] = true
		for _, a := range have {
			i := slices.IndexFunc(want, func(w column) bool { return w.Name == a.name })
			if i >= 0 && want[i].optional {
				found[table+"."+a.name] = true
			}
			if i >= 0 && want[i].Default != "" && a.hasDefault {
				found[table+"."+a.name+" default"] = true
			}
		}
	}
	return nil
}

func (m *Migrator) recorded(ctx context.Context) (map[string]bool, error) {
	rows, err := m.db.QueryContext(ctx, "SELECT name FROM nextrun_found")
	if err != nil {
		return nil, fmt.Errorf("read nextrun_found: %w", err)
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	found := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("read nextrun_found: %w", err)
		}
		found[name] = true
	}
	return found, rows.Err()
}

// state is what the SQL files depend on.
type state struct {
	version int64           // of the schema, before anything is applied
	found   map[string]bool // see [Migrator.found]
	schema  string          // of PostgreSQL, quoted
}

// render returns the SQL files of the dialect with their templates filled in.
func (m *Migrator) render(s state) (fs.FS, error) {
	dialect, found := m.dialect, s.found
	funcs := template.FuncMap{
		"firstTime":  func() bool { return s.version == 0 },
		"schema":     func() string { return s.schema },
		"found":      func(name string) bool { return found[name] },
		"foundNames": func() []string { return sorted(found) },
		"withoutDefault": func(table string) []column {
			return slices.DeleteFunc(slices.Clone(tables[table]), func(c column) bool {
				return c.Default == "" || found[table+"."+c.Name+" default"]
			})
		},
	}
	paths, err := fs.Glob(m.files, string(dialect)+"/*.sql")
	if err != nil {
		return nil, err
	}
	out := fstest.MapFS{}
	for _, path := range paths {
		source, err := fs.ReadFile(m.files, path)
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
func lenientDown(dialect Dialect, text string) string {
	up, down, _ := strings.Cut(text, "-- +goose Down")
	down = dropping.ReplaceAllStringFunc(down, func(drop string) string {
		if dialect == SQLite && strings.Contains(drop, "COLUMN") {
			return drop // it has no IF EXISTS for columns
		}
		return drop + "IF EXISTS "
	})
	return up + "-- +goose Down" + down
}

func sorted[V any](set map[string]V) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// known lists the migrations of this program, oldest first.
func (m *Migrator) known() ([]Applied, error) {
	paths, err := fs.Glob(m.files, string(m.dialect)+"/*.sql")
	if err != nil {
		return nil, err
	}
	var list []Applied
	for _, path := range paths {
		name := strings.TrimPrefix(path, string(m.dialect)+"/")
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number: %w", path, err)
		}
		list = append(list, Applied{Version: version, Name: name})
	}
	return list, nil
}

func (m *Migrator) latest() (int64, error) {
	known, err := m.known()
	if err != nil {
		return 0, err
	}
	return known[len(known)-1].Version, nil
}
