package script

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// The files read as text/template fills them in, whatever was there before.
func TestFillsInAsTextTemplate(t *testing.T) {
	t.Parallel()
	all := map[string]bool{}
	for table, columns := range tables.All {
		all[table] = true
		for _, c := range columns {
			all[table+"."+c.Name], all[table+"."+c.Name+" default"] = true, true
		}
	}
	states := []map[string]bool{{}, all}
	for name := range all {
		states = append(states, map[string]bool{name: true})
	}
	fsys := os.DirFS("../..")
	for _, dialect := range []tables.Dialect{tables.Postgres, tables.SQLite} {
		for _, found := range states {
			f := Source{FS: fsys, Dialect: dialect}
			got, err := f.filled(State{Found: found, Schema: `"x"`})
			if err != nil {
				t.Fatal(err)
			}
			made, err := f.Made()
			if err != nil {
				t.Fatal(err)
			}
			source, err := f.text()
			if err != nil {
				t.Fatal(err)
			}
			if got != filledByTextTemplate(t, source, made, found) {
				t.Fatalf("%s/%s with %v is not what text/template makes of it", dialect, Name, slices.Sorted(maps.Keys(found)))
			}
		}
	}
}

func filledByTextTemplate(t *testing.T, source, made string, found map[string]bool) string {
	t.Helper()
	parsed, err := template.New("").Funcs(template.FuncMap{
		"schema":     func() string { return `"x"` },
		"file":       func() string { return made },
		"found":      func(name string) bool { return found[name] },
		"foundNames": func() []string { return slices.Sorted(maps.Keys(found)) },
		"withoutDefault": func(table string) []tables.Column {
			return slices.DeleteFunc(slices.Clone(tables.All[table]), func(c tables.Column) bool {
				return c.Default == "" || found[table+"."+c.Name+" default"]
			})
		},
	}).Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := parsed.Execute(&text, nil); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// What it does not know is an error, and is not left out.
func TestFillNamesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{{"a" | one}}`, `{{$x := "a"}}`, `{{template "none"}}`, `{{.Name}}`, `{{with one}}{{end}}`, `{{range one}}{{break}}{{end}}`, `{{if}}`, `{{two}}`} {
		functions := map[string]function{"one": func(...string) any { return []any{"1"} }}
		if got, err := fill("x", text, functions); err == nil {
			t.Errorf("%s became %q", text, got)
		} else if strings.Contains(fmt.Sprint(err), "%!") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
