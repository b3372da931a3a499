package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// How much a reader has to hold in mind at most: methods that a type or an interface
// declares itself, fields of a type with those of the types that it embeds, parameters of a function that choose
// a path, and source files of a package.
const (
	mostMethods      = 30
	mostOfInterface  = 10
	mostFields       = 35 // a job and a task have about 30 columns
	mostBooleans     = 2  // a call with three reads as a riddle
	mostSourcesOfOne = 25
)

// mostLines is how long the product may be. docs/internals/decisions/size.md says why there is a limit, and what
// has to be written there before it is raised.
const mostLines = 58_000

func TestArchitectureSizes(t *testing.T) {
	sizes, err := readSizes("../..")
	if err != nil {
		t.Fatal(err)
	}
	if sizes.methods["store.DB"] == nil || sizes.interfaces["jobqueue.QueueStore"] == 0 || sizes.sources["store"] == 0 {
		t.Error("found no methods of store.DB, no interface jobqueue.QueueStore or no file of store; were they moved without a change here?")
	}
	for _, violation := range sizes.check() {
		t.Error(violation)
	}
}

func TestArchitectureSizeRules(t *testing.T) {
	t.Parallel()
	methods := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("func (t *T) m%d() {}\n", i)
		}
		return text
	}
	signatures := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("m%d()\n", i)
		}
		return text
	}
	fields := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("f%d int\n", i)
		}
		return text
	}
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"few methods":  {map[string]string{"a.go": "type T struct{}\n" + methods(30)}, ""},
		"many methods": {map[string]string{"a.go": "type T struct{}\n" + methods(30), "b.go": "func (t T) more() {}"}, "x.T has 31 methods"},
		"of a generic type": {map[string]string{"a.go": "type T[K, V any] struct{}\n" +
			strings.ReplaceAll(methods(31), "*T", "*T[K, V]")}, "x.T has 31 methods"},
		"the same for another system": {map[string]string{"a.go": "type T struct{}\n" + methods(30), "b.go": "func (t T) m0() {}"}, ""},
		"of tests":                    {map[string]string{"a.go": "type T struct{}\n" + methods(30), "a_test.go": "func (t T) more() {}"}, ""},
		"promoted":                    {map[string]string{"a.go": "type T struct{ U }\ntype U struct{}\nfunc (U) more() {}\n" + methods(30)}, ""},
		"few fields":                  {map[string]string{"a.go": "type T struct{ U; a, b int }\ntype U struct {" + fields(32) + "}"}, ""},
		"many fields":                 {map[string]string{"a.go": "type T struct{ U; a, b int }\ntype U struct {" + fields(33) + "}"}, "x.T has 36 fields"},
		"two booleans":                {map[string]string{"a.go": "func f(a, b bool) {}"}, ""},
		"three booleans":              {map[string]string{"a.go": "func (T) f(a, b bool, n int, c bool) {}"}, "x.f has 3 booleans"},
		"a small interface":           {map[string]string{"a.go": "type I interface {\n" + signatures(10) + "}\n"}, ""},
		"a large interface":           {map[string]string{"a.go": "type I interface {\n" + signatures(11) + "}\n"}, "x.I has 11 methods"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantViolation(t, test.files, test.want)
		})
	}
}

func TestArchitectureFilesOfAPackage(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a_test.go": ""}
	for i := range mostSourcesOfOne {
		files[fmt.Sprintf("f%d.go", i)] = ""
	}
	wantViolation(t, files, "")
	files["one_more.go"] = ""
	wantViolation(t, files, "x has 26 source files")
}

// wantViolation checks the sizes of a package x of these files, which lack their
// package clauses.
func wantViolation(t *testing.T, files map[string]string, want string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(root, "x", name), "package x\n\n"+text)
	}
	sizes, err := readSizes(root)
	if err != nil {
		t.Fatal(err)
	}
	got := sizes.check()
	switch {
	case want == "" && len(got) > 0:
		t.Errorf("got %q, want no violation", got)
	case want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], want+";")):
		t.Errorf("got %q, want one violation: %s", got, want)
	}
}

// sizes are those of a module, by the names of types and packages.
type sizes struct {
	methods    map[string]map[string]bool // once, if files for several systems have them
	interfaces map[string]int
	sources    map[string]int
	fields     map[string]int // its own, the embedded ones too
	embeds     map[string][]string
	booleans   map[string]int // by function
	lines      int            // of the product
}

func readSizes(root string) (sizes, error) {
	s := sizes{methods: map[string]map[string]bool{}, interfaces: map[string]int{}, sources: map[string]int{},
		fields: map[string]int{}, embeds: map[string][]string{}, booleans: map[string]int{}}
	err := eachSource(root, func(name, relative string) error {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		dir := path.Dir(relative)
		s.sources[dir]++
		if !within(dir, "scripts") && !within(dir, "internal/testkit") {
			s.lines += set.File(file.FileStart).LineCount()
		}
		for _, declared := range file.Decls {
			switch d := declared.(type) {
			case *ast.FuncDecl:
				s.addMethod(dir, d)
				s.booleans[dir+"."+d.Name.Name] = booleans(d.Type.Params)
			case *ast.GenDecl:
				s.addTypes(dir, d)
			}
		}
		return nil
	})
	return s, err
}

func (s sizes) addMethod(dir string, f *ast.FuncDecl) {
	if f.Recv == nil {
		return
	}
	name := dir + "." + receiverName(f.Recv.List[0].Type)
	if s.methods[name] == nil {
		s.methods[name] = map[string]bool{}
	}
	s.methods[name][f.Name.Name] = true
}

// receiverName is the name of a method's type.
func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return fmt.Sprintf("%T", e)
}

func booleans(parameters *ast.FieldList) (n int) {
	for _, field := range parameters.List {
		if named, is := field.Type.(*ast.Ident); is && named.Name == "bool" {
			n += len(field.Names)
		}
	}
	return n
}

func (s sizes) addTypes(dir string, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		declared, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		name := dir + "." + declared.Name.Name
		switch t := declared.Type.(type) {
		case *ast.InterfaceType:
			for _, field := range t.Methods.List { // embedded interfaces have no names
				s.interfaces[name] += len(field.Names)
			}
		case *ast.StructType:
			for _, field := range t.Fields.List {
				s.fields[name] += max(len(field.Names), 1)
				if len(field.Names) == 0 {
					s.embeds[name] = append(s.embeds[name], dir+"."+receiverName(field.Type))
				}
			}
		}
	}
}

// allFields counts the fields of a type with those of the types of its package that it embeds.
func (s sizes) allFields(name string) int {
	n := s.fields[name]
	for _, embedded := range s.embeds[name] {
		n += s.allFields(embedded)
	}
	return n
}

// check returns a sentence for each type, interface and package that is too large.
func (s sizes) check() (violations []string) {
	report := func(name string, n, most int, of, remedy string) {
		if n > most {
			violations = append(violations, fmt.Sprintf("%s has %d %s; %d are allowed: %s", name, n, of, most, remedy))
		}
	}
	for name, methods := range s.methods {
		report(name, len(methods), mostMethods, "methods", "split the type by what it owns")
	}
	for name, n := range s.interfaces {
		report(name, n, mostOfInterface, "methods", "part the interface by its users")
	}
	for name := range s.fields {
		report(name, s.allFields(name), mostFields, "fields", "split the type by who may touch what")
	}
	for name, n := range s.booleans {
		report(name, n, mostBooleans, "booleans", "name the choices in a type, or make two functions")
	}
	report("the product", s.lines, mostLines, "lines", "see docs/internals/decisions/size.md")
	for dir, n := range s.sources {
		report(dir, n, mostSourcesOfOne, "source files", "split the package by subject")
	}
	slices.Sort(violations)
	return violations
}
