package config

import (
	"errors"
	"fmt"
	"io"
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

// Read reads the configuration file. If something is wrong with it, the error is an
// [*Error].
func Read(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err // names the file
	}
	return parse(path, text)
}

func parse(path string, text []byte) (*Config, error) {
	config := &Config{Path: path}
	err := document(path, text, func(r *reader, root *yaml.Node) { sectionReader{r}.config(root, config) })
	if err != nil {
		return nil, err
	}
	return config, nil
}

// document calls read with the only YAML document of a file. It does not if the
// file is empty or has only comments.
func document(path string, text []byte, read func(r *reader, root *yaml.Node)) error {
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	var document, more yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return &Error{path, []Problem{{Text: err.Error()}}}
	}
	r := &reader{unusable: map[string]func(){}}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		r.problem(&more, "the file must hold one YAML document")
	}
	read(r, document.Content[0])
	if len(r.problems) > 0 {
		return &Error{path, inOrder(r.problems)}
	}
	return nil
}

func inOrder(list []Problem) []Problem {
	slices.SortStableFunc(list, func(a, b Problem) int { return a.Line - b.Line })
	return list
}
