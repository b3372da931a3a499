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
	if slices.ContainsFunc(strings.Split(dir, "/"), func(name string) bool { return slices.Contains(attics, name) }) {
		return []string{file.path + ": a directory of such a name gathers everything; find the package that it belongs to"}
	}
	if room := room(dir); !slices.Contains(floors, room) && room != "scripts" && room != "." {
		return []string{fmt.Sprintf("%s: %s is no room of the house", file.path, room)}
	}
	return nil
}

// checkImport returns the rule that an import breaks, or "".
func checkImport(file sourceFile, imported string) string {
	dir := path.Dir(file.path)
	kit := within(dir, "internal/testkit") || room(dir) == "scripts"
	for library, places := range libraries {
		if !within(imported, library) || kit || slices.ContainsFunc(places, func(place string) bool { return within(dir, place) }) {
			continue
		}
		if len(places) == 0 {
			return "only tests may"
		}
		return "only " + strings.Join(places, ", ") + " may"
	}
	target, ours := strings.CutPrefix(imported, module+"/")
	if !ours || kit {
		return ""
	}
	if within(target, "internal/testkit") {
		return target + " is a kit for tests"
	}
	if slices.Index(floors, room(target)) > slices.Index(floors, room(dir)) {
		return target + " is above it"
	}
	for _, rule := range barred {
		if matches(rule.from, dir) && dir != target && slices.ContainsFunc(rule.not, func(p string) bool { return matches(p, target) }) {
			return rule.from + " does not know " + target
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

func within(dir, parent string) bool { return dir == parent || strings.HasPrefix(dir, parent+"/") }

// isPublic reports whether others can import a package, and whether it is for them.
func isPublic(dir string) bool {
	own := []string{"internal", "cmd", "scripts", "bench", "tools"}
	program := []string{"ops/cli", "ops/config", "ops/crontab", "ops/docspell", "ops/ical", "ops/kafka", "ops/verify", "jobqueue/handlers/statement"}
	if slices.ContainsFunc(program, func(part string) bool { return within(dir, part) }) {
		return false
	}
	return dir != "." && !slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool { return slices.Contains(own, part) })
}
