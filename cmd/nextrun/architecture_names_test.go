package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mostNames is how many names others can use: exported declarations, and exported methods of exported types, of all
// packages that they can import. Each one is a promise. docs/internals/decisions/size.md says why there is a limit.
const mostNames = 870

// overview is how long `go doc` of a package is at most that users read first: it is to fit on a screen or two.
var overview = map[string]int{"periodic": 65, "jobqueue": 65, "store": 60, "calendar": 60}

func TestArchitectureNames(t *testing.T) {
	found, err := readPromises("../..")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, dir := range slices.Sorted(maps.Keys(found.public)) {
		n += len(found.public[dir])
		t.Logf("%4d %s", len(found.public[dir]), dir)
	}
	if n > mostNames {
		t.Errorf("%d names are public; %d are allowed: see docs/internals/decisions/size.md", n, mostNames)
	}
	for _, violation := range found.check() {
		t.Error(violation)
	}
}

func TestArchitectureOverviews(t *testing.T) {
	for dir, most := range overview {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			c := exec.CommandContext(t.Context(), "go", "doc", "./"+dir)
			c.Dir = "../.."
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("go doc: %v\n%s", err, out)
			}
			if n := strings.Count(string(out), "\n"); n > most {
				t.Errorf("go doc of %s has %d lines; %d are allowed: group constants, make what few use internal\n%s", dir, n, most, out)
			}
		})
	}
}

func TestArchitectureNameRules(t *testing.T) {
	t.Parallel()
	const imports = "import \"" + module + "/internal/y\"\n\n"
	for name, test := range map[string]struct {
		text string
		want string // a violation
	}{
		"a result":             {"func F() y.T { return nil }", "x.F names y.T"},
		"a parameter":          {"func F(list ...map[string]*y.T) {}", "x.F names y.T"},
		"of a type parameter":  {"func F[V y.T](v V) {}", "x.F names y.T"},
		"a field":              {"type S struct{ A, B []y.T }", "x.S.A names y.T"},
		"an embedded field":    {"type S struct{ y.T }", "x.S.T names y.T"},
		"a method":             {"type S struct{}\n\nfunc (*S) M(f func(y.T)) {}", "x.S.M names y.T"},
		"of an interface":      {"type I interface{ M(y.T) }", "x.I names y.T"},
		"a sealed interface":   {"type I interface{ m() y.T }", ""},
		"a part of one":        {"type I interface{ y.T }", "x.I names y.T"},
		"a type":               {"type S map[string]y.T", "x.S names y.T"},
		"a variable":           {"var V y.T", "x.V names y.T"},
		"an alias":             {"type T = y.T\n\nfunc F() y.T { return nil }", ""},
		"one for itself":       {"type t = y.T\n\nfunc F() y.T { return nil }", "x.F names y.T"},
		"unexported":           {"type s struct{ A y.T }\n\nfunc f() y.T { return nil }\n\ntype S struct{ a y.T }", ""},
		"of an unexported one": {"type s struct{}\n\nfunc (s) M() y.T { return nil }", ""},
		"a body":               {"func F() { y.F() }", ""},
		"a value":              {"var V = y.F()", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, root+"/x/a.go", "package x\n\n"+imports+test.text)
			found, err := readPromises(root)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(found.check(), "\n")
			if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestArchitectureNamesThatCount(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root+"/x/a.go", "package x\n\nconst (\n\tA, b = 1, 2\n\tC = 3\n)\n\nvar D int\n\ntype E[T any] struct{ Field int }\n\nfunc (*E[T]) F() {}\n\nfunc (E[T]) g() {}\n\ntype h int\n\nfunc (h) I() {}\n\nfunc J() {}\n")
	write(t, root+"/x/a_test.go", "package x\n\nfunc K() {}\n")
	for _, dir := range []string{"internal/y", "y/internal/z", "cmd/y", "scripts/y", "bench"} {
		write(t, root+"/"+dir+"/a.go", "package y\n\nfunc L() {}\n")
	}
	found, err := readPromises(root)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(slices.Sorted(maps.Keys(found.public["x"])))
	if want := "[A C D E E.F J]"; got != want || len(found.public) != 1 {
		t.Errorf("got %s in %d packages, want %s in one", got, len(found.public), want)
	}
}

// promises are the names that others can use.
type promises struct {
	public  map[string]map[string]bool // by directory
	aliased map[string]bool            // types of internal packages that have a public name, such as internal/y.T
	named   map[string][]string        // where types of internal packages are named, by the type
}

func readPromises(root string) (promises, error) {
	n := promises{map[string]map[string]bool{}, map[string]bool{}, map[string][]string{}}
	err := eachSource(root, func(name, relative string) error {
		dir := path.Dir(relative)
		if !isPublic(dir) {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		s := scanner{promises: n, dir: dir, internal: map[string]string{}}
		for _, spec := range file.Imports {
			if imported, err := strconv.Unquote(spec.Path.Value); err == nil && strings.Contains(imported+"/", "/internal/") {
				s.internal[path.Base(imported)] = strings.TrimPrefix(imported, module+"/")
			}
		}
		for _, declared := range file.Decls {
			switch d := declared.(type) {
			case *ast.FuncDecl:
				s.function(d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					s.spec(spec)
				}
			}
		}
		return nil
	})
	return n, err
}

// scanner looks at the declarations of a file.
type scanner struct {
	promises

	dir      string
	internal map[string]string // the internal packages that it imports, by their names
}

func (s *scanner) add(name string) {
	if s.public[s.dir] == nil {
		s.public[s.dir] = map[string]bool{}
	}
	s.public[s.dir][name] = true
}

func (s *scanner) function(d *ast.FuncDecl) {
	name := d.Name.Name
	if d.Recv != nil {
		of := receiverName(d.Recv.List[0].Type)
		if !ast.IsExported(of) {
			return
		}
		name = of + "." + name
	}
	if d.Name.IsExported() {
		s.add(name)
		s.look(name, d.Type)
	}
}

func (s *scanner) spec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			if name.IsExported() {
				s.add(name.Name)
				s.look(name.Name, spec.Type)
			}
		}
	case *ast.TypeSpec:
		if !spec.Name.IsExported() {
			return
		}
		s.add(spec.Name.Name)
		of, ok := spec.Type.(*ast.StructType)
		switch {
		case spec.Assign.IsValid():
			s.eachInternal(spec.Type, func(t string) { s.aliased[t] = true })
		case ok:
			s.fields(spec.Name.Name, of)
		default:
			s.look(spec.Name.Name, exported(spec.Type))
		}
	}
}

// exported is a type without what others cannot call: the unexported methods of an interface.
func exported(t ast.Expr) ast.Expr {
	of, ok := t.(*ast.InterfaceType)
	if !ok {
		return t
	}
	list := &ast.FieldList{}
	for _, m := range of.Methods.List {
		if len(m.Names) == 0 || m.Names[0].IsExported() {
			list.List = append(list.List, m)
		}
	}
	return &ast.InterfaceType{Methods: list}
}

func (s *scanner) fields(of string, t *ast.StructType) {
	for _, field := range t.Fields.List {
		name := receiverOrNone(field.Type)
		if len(field.Names) > 0 {
			name = field.Names[0].Name
		}
		if ast.IsExported(name) {
			s.look(of+"."+name, field.Type)
		}
	}
}

// receiverOrNone is the name of an embedded field.
func receiverOrNone(e ast.Expr) string {
	if selected, ok := e.(*ast.SelectorExpr); ok {
		return selected.Sel.Name
	}
	return receiverName(e)
}

// look notes the types of internal packages that a declaration names.
func (s *scanner) look(name string, e ast.Expr) {
	s.eachInternal(e, func(t string) { s.named[t] = append(s.named[t], s.dir+"."+name) })
}

func (s *scanner) eachInternal(e ast.Expr, fn func(t string)) {
	if e == nil {
		return
	}
	ast.Inspect(e, func(node ast.Node) bool {
		if selected, ok := node.(*ast.SelectorExpr); ok {
			if of, ok := selected.X.(*ast.Ident); ok && s.internal[of.Name] != "" {
				fn(s.internal[of.Name] + "." + selected.Sel.Name)
			}
		}
		return true
	})
}

// check returns a sentence for each public declaration that names a type which others cannot name.
func (n promises) check() (violations []string) {
	for t, places := range n.named {
		if n.aliased[t] {
			continue
		}
		for _, place := range places {
			violations = append(violations, fmt.Sprintf("%s names %s, which others cannot: give the type a public name, or make the declaration internal",
				place, strings.TrimPrefix(t, "internal/")))
		}
	}
	slices.Sort(violations)
	return violations
}
