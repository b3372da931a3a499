package main_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sourceFile is a Go file of the product, named as in the module.
type sourceFile struct {
	path    string
	imports []string
}

// readTree reads the imports of all Go files of a module but those of tests.
func readTree(root string) ([]sourceFile, error) {
	var files []sourceFile
	err := eachSource(root, func(name, relative string) error {
		imports, err := readImports(name)
		files = append(files, sourceFile{relative, imports})
		return err
	})
	return files, err
}

// eachSource calls fn with the Go files of a module but those of tests: as they are
// named from here, and as in the module.
func eachSource(root string, fn func(name, relative string) error) error {
	return filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && skipped(name):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return fn(name, filepath.ToSlash(relative))
	})
}

// skipped tells whether Go does not count a directory to the module.
func skipped(dir string) bool {
	base := filepath.Base(dir)
	if base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_' {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func readImports(name string) ([]string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("read the imports of %s: %w", name, err)
	}
	var imports []string
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("read the imports of %s: %w", name, err)
		}
		imports = append(imports, imported)
	}
	return imports, nil
}

// check returns a sentence for each rule that a file breaks.
func check(tree []sourceFile) []string {
	var violations []string
	for _, file := range tree {
		violations = append(violations, checkPlace(file)...)
		for _, imported := range file.imports {
			if broken := checkImport(file, imported); broken != "" {
				violations = append(violations, fmt.Sprintf("%s imports %s: %s", file.path, imported, broken))
			}
		}
	}
	return violations
}

func checkPlace(file sourceFile) []string {
	dir := path.Dir(file.path)
	if dir == "." {
		return []string{file.path + ": there is no root package; find the package that it belongs to"}
	}
	if slices.ContainsFunc(strings.Split(dir, "/"), func(name string) bool { return slices.Contains(attics, name) }) {
		return []string{file.path + ": a directory of such a name gathers everything; find the package that it belongs to"}
	}
	if _, known := mayImport(dir); !known {
		return []string{fmt.Sprintf("%s: package %s has no rule; say in architecture_test.go what it may import", file.path, dir)}
	}
	return nil
}

// checkImport returns the rule that an import breaks, or "".
func checkImport(file sourceFile, imported string) string {
	for _, l := range libraries {
		if within(imported, l.library) && !slices.ContainsFunc(l.places, func(place string) bool {
			return file.path == place || path.Dir(file.path)+"/" == place
		}) {
			return "only " + strings.TrimSuffix(l.places[0], "/") + " may"
		}
	}
	dir := path.Dir(file.path)
	pure := within(dir, "calendar") || within(dir, "internal/elapse")
	if imported == "database/sql" && pure {
		return "calendar is pure and knows no database"
	}
	target, ours := strings.CutPrefix(imported, module+"/")
	tool := within(target, "internal") && !within(target, "internal/testkit") && !slices.Contains(parts, target)
	if tool && !pure && (!within(dir, "internal") || slices.Contains(parts, dir)) {
		return ""
	}
	allowed, known := mayImport(dir)
	if !ours || !known || slices.ContainsFunc(allowed, func(pattern string) bool { return matches(pattern, target) }) {
		return ""
	}
	if len(allowed) == 0 {
		return dir + " may import nothing of the module"
	}
	return dir + " may import only " + strings.Join(allowed, ", ")
}

// mayImport returns what a package may import of the module.
func mayImport(dir string) (allowed []string, known bool) {
	for _, arrow := range arrows {
		if matches(arrow.from, dir) {
			return arrow.to, true
		}
	}
	parent := path.Dir(dir)
	if parent == "." {
		return nil, false
	}
	_, known = mayImport(parent)
	return []string{parent}, known
}

func matches(pattern, dir string) bool {
	if parent, below := strings.CutSuffix(pattern, "..."); below {
		return strings.HasPrefix(dir, parent)
	}
	return pattern == dir
}

func within(dir, parent string) bool { return dir == parent || strings.HasPrefix(dir, parent+"/") }
