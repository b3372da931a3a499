// Licenses writes the licences of all that is linked into nextrun, with their texts, on
// any system for which releases are built:
//
//	go run ./scripts/licenses >dist/licenses.txt
//
// A licence that it does not know, or a module without one, is an error.
package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// builds are those of releases, as variables of the go command.
var builds = []string{"GOOS=linux CGO_ENABLED=1", "GOOS=linux CGO_ENABLED=0", "GOOS=darwin CGO_ENABLED=1"}

// licence is a kind of licence, and what a text of it has, without marks at the beginning
// of lines and with blanks reduced to one.
type licence struct {
	name string
	has  string
}

// licences are those that may be linked into a program under the MIT licence. The first
// one that a text has counts.
var licences = []licence{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"BSD-3-Clause", "Neither the name of"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce the above copyright notice"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software"},
}

// notices are texts that belong to a licence and are none by themselves.
var notices = regexp.MustCompile(`(?i)^(NOTICE|PATENTS|AUTHORS)`)

var licenceFile = regexp.MustCompile(`(?i)^(LICEN[CS]E|COPYING|NOTICE|PATENTS)([.-].*)?$`)

// linked is a module and those of its directories that have linked packages.
type linked struct {
	version, dir string
	packages     map[string]bool
}

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func write(w io.Writer) error {
	modules, err := list()
	if err != nil {
		return err
	}
	var summary, texts bytes.Buffer
	shown := map[string]string{} // the first module with a text
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		m := modules[path]
		kinds, text, err := m.licences()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Fprintf(&summary, "%-60s %-40s %s\n", path, m.version, strings.Join(kinds, ", "))
		fmt.Fprintf(&texts, "\n%s\n%s %s\n", strings.Repeat("=", 100), path, m.version)
		if first, found := shown[text]; found {
			fmt.Fprintf(&texts, "\nThe same as for %s.\n", first)
			continue
		}
		shown[text] = path
		texts.WriteString(text)
	}
	fmt.Fprintf(w, "What is linked into nextrun, and under which licences. Written by: make licenses\n\n%s", summary.String())
	fmt.Fprintf(w, "%-60s %-40s %s\n", "SQLite, in github.com/mattn/go-sqlite3", "", "public domain (https://sqlite.org/copyright.html)")
	_, err = w.Write(texts.Bytes())
	return err
}

// list returns the modules that are linked, by path, and Go's own library.
func list() (map[string]linked, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	goroot := strings.TrimSpace(string(root))
	modules := map[string]linked{"Go": {"its library and runtime", goroot, map[string]bool{goroot: true}}}
	for _, build := range builds {
		command := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/nextrun")
		command.Env = append(os.Environ(), strings.Fields(build)...)
		command.Stderr = os.Stderr
		out, err := command.Output()
		if err != nil {
			return nil, fmt.Errorf("%s go list: %w", build, err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimSpace(line), "\t")
			if len(f) != 4 {
				continue
			}
			if _, found := modules[f[0]]; !found {
				modules[f[0]] = linked{f[1], f[2], map[string]bool{}}
			}
			for dir := f[3]; len(dir) >= len(f[2]); dir = filepath.Dir(dir) {
				modules[f[0]].packages[dir] = true
			}
		}
	}
	return modules, nil
}

// licences returns the kinds of a module's licences, and their texts.
func (m linked) licences() (kinds []string, text string, err error) {
	for _, dir := range slices.Sorted(maps.Keys(m.packages)) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, "", err
		}
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) {
				continue
			}
			content, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, "", err
			}
			place, _ := filepath.Rel(m.dir, filepath.Join(dir, e.Name()))
			text += fmt.Sprintf("\n--- %s\n\n%s\n", filepath.ToSlash(place), strings.TrimRight(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n"))
			kind := kindOf(string(content))
			switch {
			case notices.MatchString(e.Name()):
			case kind == "":
				return nil, "", fmt.Errorf("%s is a licence that scripts/licenses does not know", place)
			case !slices.Contains(kinds, kind):
				kinds = append(kinds, kind)
			}
		}
	}
	if len(kinds) == 0 {
		return nil, "", fmt.Errorf("no licence in %s", m.dir)
	}
	return kinds, text, nil
}

func kindOf(text string) string {
	text = strings.Join(strings.Fields(strings.NewReplacer(">", " ", "*", " ").Replace(text)), " ")
	for _, l := range licences {
		if strings.Contains(text, l.has) {
			return l.name
		}
	}
	return ""
}
