package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/nextrun/nextrun"

// The floors of the house, from the ground up. A package imports packages of its own room and of the floors below it.
// The root, ".", is the package for programs that embed nextrun.
var floors = []string{"internal", "calendar", "jobqueue", "periodic", "migrations", "store", ".", "ops", "cmd"}

// Inside a room the arrows go down as well: what a package may not import, although the floors allow it. DIR/... is
// everything below DIR. Which libraries a package may import is said in .golangci.yml.
var barred = []struct {
	from string
	not  []string
}{
	{"internal/service", []string{"..."}},

	{"calendar/internal/...", []string{"calendar"}},
	{"jobqueue", []string{"jobqueue/..."}},
	{"jobqueue/executor/...", []string{"jobqueue/outbox/...", "jobqueue/hooks", "jobqueue/handlers"}},
	{"jobqueue/outbox", []string{"jobqueue/outbox/...", "jobqueue/executor/...", "jobqueue/hooks", "jobqueue/handlers"}},
	{"periodic", []string{"periodic/scheduler/...", "periodic/batch", "periodic/leader"}},
	{"periodic/leader", []string{"periodic/scheduler/..."}},
	{"migrations/...", []string{"periodic/...", "jobqueue/...", "calendar/..."}},
	// A program links no driver, and not what migrates, unless it imports it.
	{"store", []string{"store/postgres", "store/sqlite", "store/queues", "migrations"}},
	{"store/internal/...", []string{"store"}},
	{"ops/internal/...", []string{"ops/cli/...", "ops/dashboard/...", "ops/config"}},
	{"ops/dashboard/...", []string{"ops/cli/...", "ops/config"}},
	{"ops/metrics", []string{"ops/cli/...", "ops/config", "ops/dashboard/..."}},
	{"ops/config", []string{"ops/cli/..."}},
	{"ops/cli/ui", []string{"ops/cli/..."}},
}

// How large the product may be: lines of Go without test kits, and exported names of packages that others can import,
// methods left out, of which each is a promise. docs/internals/decisions/size.md says why there is a limit, and what to write there before it
// is raised.
const (
	mostLines = 53_000
	mostNames = 600
)

func TestArchitecture(t *testing.T) {
	var rooms []string
	eachSource(t, func(file *source) {
		rooms = append(rooms, room(file.dir))
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if broken := breaks(file.dir, imported); broken != "" {
				t.Errorf("%s imports %s: %s", file.name, imported, broken)
			}
		}
	})
	for _, room := range floors {
		if !slices.Contains(rooms, room) {
			t.Errorf("found no Go file in %s; was it moved without a change of the rules here?", room)
		}
	}
	for _, found := range rooms {
		if !slices.Contains(floors, found) && found != "scripts" {
			t.Errorf("%s is no room of the house", found)
		}
	}
}

func TestArchitectureSizes(t *testing.T) {
	lines, names := 0, 0
	eachSource(t, func(file *source) {
		if !within(file.dir, "scripts") && !isKit(file.dir) {
			lines += file.lines
		}
		if isPublic(file.dir) {
			names += exported(file.File)
		}
	})
	if lines > mostLines || names > mostNames {
		t.Errorf("the product has %d lines and %d exported names, %d and %d are allowed: see docs/internals/decisions/size.md", lines, names, mostLines, mostNames)
	}
}

// source is a Go file of the product, named as in the module.
type source struct {
	*ast.File

	name, dir string
	lines     int
}

// eachSource calls fn with the Go files of the module but those of tests.
func eachSource(t *testing.T, fn func(*source)) {
	t.Helper()
	set := token.NewFileSet()
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && skipped(name):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(set, "../../"+name, nil, parser.SkipObjectResolution)
		if err == nil {
			fn(&source{file, name, path.Dir(name), set.File(file.FileStart).LineCount()})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// skipped tells whether Go does not count a directory to the module.
func skipped(dir string) bool {
	base := path.Base(dir)
	_, err := os.Stat(filepath.Join("..", "..", dir, "go.mod"))
	return err == nil || base == "testdata" || base[0] == '.' || base[0] == '_'
}

// breaks returns the rule that an import breaks, or "".
func breaks(dir, imported string) string {
	target, ours := strings.CutPrefix(imported, module+"/")
	if imported == module {
		target, ours = ".", true
	}
	switch {
	case !ours || isKit(dir) || room(dir) == "scripts":
		return ""
	case isKit(target):
		return "it is a kit for tests"
	case slices.Index(floors, room(target)) > slices.Index(floors, room(dir)):
		return "it is above it"
	}
	for _, rule := range barred {
		if matches(rule.from, dir) && dir != target && slices.ContainsFunc(rule.not, func(p string) bool { return matches(p, target) }) {
			return rule.from + " does not know it"
		}
	}
	return ""
}

// room is the directory of the module that a path begins with.
func room(dir string) string {
	first, _, _ := strings.Cut(dir, "/")
	return first
}

// matches tells whether a pattern means a directory: that one, or with /... that one and what is below it.
func matches(pattern, dir string) bool {
	if parent, below := strings.CutSuffix(pattern, "..."); below {
		return within(dir, strings.TrimSuffix(parent, "/")) || parent == ""
	}
	return pattern == dir
}

// isKit tells whether a package is there for tests only.
func isKit(dir string) bool { return strings.Contains("/"+dir+"/", "/internal/testkit/") }

func within(dir, parent string) bool { return dir == parent || strings.HasPrefix(dir, parent+"/") }

// isPublic reports whether others can import a package, and whether it is for them.
func isPublic(dir string) bool {
	program := []string{"ops/cli", "ops/config", "ops/crontab", "ops/docspell", "ops/ical", "ops/kafka", "ops/verify", "jobqueue/handlers/statement", "cmd", "scripts"}
	return !slices.Contains(strings.Split(dir, "/"), "internal") &&
		!slices.ContainsFunc(program, func(part string) bool { return within(dir, part) })
}

// exported counts the exported declarations of a file, methods left out.
func exported(file *ast.File) (n int) {
	ast.FileExports(file)
	for _, declared := range file.Decls {
		switch d := declared.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				n++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					n++
				case *ast.ValueSpec:
					n += len(spec.Names)
				}
			}
		}
	}
	return n
}
