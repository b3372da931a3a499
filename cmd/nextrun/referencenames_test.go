package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/ops/cli/ui"
)

// names are the first cells of a section's tables, of which some have several names.
func names(t *testing.T, section string) (list []string) {
	t.Helper()
	for _, table := range referenceTables(t) {
		for _, line := range table.lines {
			if table.section == section {
				for name := range strings.SplitSeq(line[0], ", ") {
					list = append(list, plain(name))
				}
			}
		}
	}
	return list
}

// The page has the states, decisions and exit codes of the code.
func TestReferenceNames(t *testing.T) {
	t.Parallel()
	for section, want := range map[string][]string{
		"States":     constants(t, "../../jobqueue/state.go", "State"),
		"Decisions":  constants(t, "../../periodic/tick.go", "Decision"),
		"Causes":     constants(t, "../../periodic/tick.go", "Cause"),
		"Exit codes": {strconv.Itoa(ui.Done), strconv.Itoa(ui.Failed), strconv.Itoa(ui.WrongUsage), strconv.Itoa(ui.Changes)},
	} {
		if have := names(t, section); !slices.Equal(have, want) {
			t.Errorf("docs/reference.md has under %s %q, the code %q", section, have, want)
		}
	}
	meanings := map[string]string{}
	for _, table := range referenceTables(t) {
		for _, line := range table.lines {
			meanings[table.section+"."+plain(line[0])] = line[len(line)-1]
		}
	}
	for column, of := range map[string]string{"overlap": "Overlap", "catchup": "Catchup", "sink": "Sink"} {
		for _, name := range constants(t, "../../periodic/task.go", of) {
			if !strings.Contains(meanings["periodic_task."+column], "`"+name+"`") {
				t.Errorf("docs/reference.md does not say what %s %s is", column, name)
			}
		}
	}
}

// constants are the values of a type's constants in a file, in order.
func constants(t *testing.T, path, typeName string) (values []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || fmt.Sprint(spec.Type) != typeName || len(spec.Values) != 1 {
			return true
		}
		if value, ok := spec.Values[0].(*ast.BasicLit); ok {
			values = append(values, strings.Trim(value.Value, `"`))
		}
		return true
	})
	if len(values) < 2 {
		t.Fatalf("found %q of %s in %s", values, typeName, path)
	}
	return values
}

// The page has the variables that the program reads, or sets for commands.
func TestReferenceVariables(t *testing.T) {
	t.Parallel()
	inCode := map[string]bool{}
	for _, pattern := range []string{"../../ops/*/*.go", "../../ops/cli/*/*.go", "../../jobqueue/*.go", "../../jobqueue/handlers/*.go", "../../jobqueue/hooks/*.go", "../../store/*.go", "../../store/internal/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range regexp.MustCompile(`NEXTRUN_[A-Z_]+[A-Z]|\bTRACEPARENT\b`).FindAllString(string(text), -1) {
				inCode[name] = inCode[name] || !strings.HasSuffix(path, "_test.go")
			}
		}
	}
	maps.DeleteFunc(inCode, func(_ string, used bool) bool { return !used })
	want := slices.Sorted(maps.Keys(inCode))
	have := slices.Sorted(slices.Values(names(t, "Environment variables")))
	if !slices.Equal(have, want) {
		t.Errorf("docs/reference.md has the variables\n%q, the code\n%q", have, want)
	}
}
