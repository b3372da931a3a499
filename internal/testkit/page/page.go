// Package page keeps those parts of a page of documentation that are made from the program: a test makes a part and
// compares it with the page. `make reference` has the tests write what they made.
package page

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// writes is the variable with which tests write instead of comparing.
const writes = "NEXTRUN_WRITE_PAGES"

var writing sync.Mutex

// Part compares what stands on a page between <!-- NAME --> and <!-- end --> with what a test has made.
func Part(t testing.TB, path, name, made string) {
	t.Helper()
	writing.Lock()
	defer writing.Unlock()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), "<!-- "+name+" -->\n")
	has, after, ends := strings.Cut(rest, "<!-- end -->\n")
	made = "\n" + strings.TrimSpace(made) + "\n\n"
	switch {
	case !begins || !ends:
		t.Fatalf("%s has no part between <!-- %s --> and <!-- end -->", path, name)
	case has == made:
	case os.Getenv(writes) == "":
		t.Errorf("%s: the part %s is not what the program has; make reference writes it:\n%s", path, name, made)
	default:
		whole := before + "<!-- " + name + " -->\n" + made + "<!-- end -->\n" + after
		if err := os.WriteFile(path+".new", []byte(whole), 0o600); err != nil { //nolint:gosec // a page of this repository
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil { // others read it meanwhile
			t.Fatal(err)
		}
	}
}

// Item is a line of a list about something with a name.
func Item(name, meaning string) string { return fmt.Sprintf("- %#q: %s\n", name, meaning) }

// Constants lists the constants of a type in a file, with the comments behind them. Those of the type "" have none.
func Constants(t testing.TB, path, of string) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || typeOf(spec) != of || len(spec.Values) != 1 {
			return true
		}
		if value, ok := spec.Values[0].(*ast.BasicLit); ok {
			list.WriteString(Item(strings.Trim(value.Value, `"`), strings.TrimSpace(spec.Comment.Text())))
		}
		return true
	})
	if list.Len() == 0 {
		t.Fatalf("%s has no constants of the type %q", path, of)
	}
	return list.String()
}

func typeOf(spec *ast.ValueSpec) string {
	if name, ok := spec.Type.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

var comment = regexp.MustCompile(`(?m)^COMMENT ON (?:TABLE|COLUMN|VIEW)\s+(\S+)\s+IS '((?:[^']|'')*)';$`)

// A Comment is one on a table or a column, and its place among those of its file.
type Comment struct {
	Text  string
	Place int
}

// withoutZone leaves out that a time is in UTC, which a page says once.
var withoutZone = strings.NewReplacer(", UTC", "", "''", "'")

// Comments are the comments in a file of SQL, by TABLE and TABLE.COLUMN.
func Comments(t testing.TB, path string) map[string]Comment {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Comment{}
	for i, match := range comment.FindAllStringSubmatch(string(text), -1) {
		found[match[1]] = Comment{withoutZone.Replace(match[2]), i}
	}
	return found
}
