package config

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Error lists the problems of a file, at least one, in the order of lines.
type Error struct {
	Path     string
	Problems []Problem
}

// Problem is one thing that is wrong in a file.
type Problem struct {
	Line int // 0: the whole file
	Text string
}

// Error has a line for each problem, which begins with file:line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = fmt.Sprintf("%s: %s", e.Path, p.Text)
		if p.Line > 0 {
			lines[i] = fmt.Sprintf("%s:%d: %s", e.Path, p.Line, p.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// Read reads the configuration file. env looks up the environment variables that it names. If
// something is wrong with the file, the error is an [*Error]; variables that are not set are an
// error of the part that needs them, when it is built. No error shows the value of one.
func Read(path string, env func(string) string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err // names the file
	}
	return parse(path, text, env)
}

func parse(path string, text []byte, env func(string) string) (*Config, error) {
	config := &Config{Path: path}
	if err := read(path, text, env, config.read); err != nil {
		return nil, err
	}
	config.source = &source{env: env, text: text, newest: config}
	return config, nil
}

// aliased is how many times as large as the file the args in it may be.
const aliased = 10

// read calls into with the root of a file.
func read(path string, text []byte, env func(string) string, into func(*reader, *yaml.Node)) error {
	root, wrong := document(text)
	if wrong != nil {
		return &Error{path, []Problem{*wrong}}
	}
	r := &reader{env: env, lacking: map[string]error{}, most: aliased * (len(text) + 1024)}
	into(r, root)
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Line - b.Line })
		return &Error{path, r.problems}
	}
	return nil
}
