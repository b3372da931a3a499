package main_test

import (
	"bytes"
	"context"
	"go/ast"
	"go/printer"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/ops/cli"
)

// nameList has the names that programs and scripts depend on. `go test ./cmd/nextrun -run Names -update` writes it.
const nameList = "../../testdata/names.txt"

// The names of a release are a promise: whoever changes or removes one sees it here, and says it in CHANGELOG.md.
func TestNamesArePromises(t *testing.T) {
	var names []string
	eachSource(t, func(file *source) {
		if isPublic(file.dir) && ast.FileExports(file.File) {
			for _, name := range declared(t, file.File) {
				names = append(names, strings.Replace(file.dir, ".", "nextrun", 1)+": "+name)
			}
		}
	})
	slices.Sort(names)
	names = append(names, commands(t, "nextrun", nil)...)
	if *update {
		if err := os.WriteFile(nameList, []byte(strings.Join(names, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listed := strings.Split(strings.TrimSpace(readFile(t, nameList)), "\n")
	for _, name := range listed {
		if !slices.Contains(names, name) {
			t.Errorf("gone, or changed: %s", name)
		}
	}
	for _, name := range names {
		if !slices.Contains(listed, name) {
			t.Errorf("not in %s: %s", nameList, name)
		}
	}
}

// declared are the declarations of a file that has exported ones only, each on a line: of functions their signatures, of
// types their fields and methods.
func declared(t *testing.T, file *ast.File) (list []string) {
	t.Helper()
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				of := text(t, d.Recv.List[0].Type)
				if !ast.IsExported(strings.TrimLeft(of, "*")) {
					continue
				}
				name = "(" + of + ") " + name
			}
			list = append(list, "func "+name+strings.TrimPrefix(text(t, d.Type), "func"))
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				list = append(list, specified(t, d.Tok, spec)...)
			}
		}
	}
	return list
}

func specified(t *testing.T, kind token.Token, spec ast.Spec) (list []string) {
	t.Helper()
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			list = append(list, kind.String()+" "+name.Name)
		}
	case *ast.TypeSpec:
		var fields *ast.FieldList
		switch of := s.Type.(type) {
		case *ast.StructType:
			list, fields = []string{"type " + s.Name.Name + " struct"}, of.Fields
		case *ast.InterfaceType:
			list, fields = []string{"type " + s.Name.Name + " interface"}, of.Methods
		default:
			return []string{"type " + s.Name.Name + " " + text(t, s.Type)}
		}
		for _, field := range fields.List {
			for _, name := range field.Names {
				list = append(list, s.Name.Name+"."+name.Name+" "+text(t, field.Type))
			}
			if len(field.Names) == 0 {
				list = append(list, s.Name.Name+" has "+text(t, field.Type))
			}
		}
	}
	return list
}

// text is a part of Go without its comments, on one line.
func text(t *testing.T, node ast.Node) string {
	t.Helper()
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), node); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// commands are those below a command, with their flags, as the completion of a shell has them. What every command has is
// named at the first one only.
func commands(t *testing.T, name string, common []string) (list []string) {
	t.Helper()
	flags := completions(t, name, "--")
	for _, flag := range flags {
		if !slices.Contains(common, flag) {
			list = append(list, name+" "+flag)
		}
	}
	if common == nil {
		common = slices.Concat(flags, []string{"--help"})
	}
	for _, word := range completions(t, name, "") {
		if word != "help" && word != "completion" {
			list = append(list, name+" "+word)
			list = append(list, commands(t, name+" "+word, common)...)
		}
	}
	return list
}

// completions are the commands or flags that may follow a command; what it takes as arguments is left out.
func completions(t *testing.T, name, begun string) (list []string) {
	t.Helper()
	var out, errs bytes.Buffer
	args := append([]string{"__complete"}, strings.Fields(name)[1:]...)
	if code := cli.Run(context.Background(), append(args, begun), strings.NewReader(""), &out, &errs, func(string) string { return "" }); code != 0 {
		t.Fatalf("%s: %s", name, errs.String())
	}
	for _, line := range strings.Split(out.String(), "\n") {
		if word, described, found := strings.Cut(line, "\t"); found && described != "" {
			list = append(list, word)
		}
	}
	return list
}
