package script

import (
	"regexp"
	"strings"
)

// statement is a part of a file: a statement with the comments before it, or a line
// that tells goose where the halves begin.
type statement string

var commentsBefore = regexp.MustCompile(`^(\s*(--.*)?\n)*`)

// code is the statement without the comments around it.
func (s statement) code() string {
	text := commentsBefore.ReplaceAllString(string(s), "")
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "-- +goose StatementEnd"))
}

// statements takes a half of a file apart as goose does.
func statements(half string) (list []statement) {
	var s strings.Builder
	block := false
	for line := range strings.Lines(half) {
		s.WriteString(line)
		switch text := strings.TrimSpace(line); {
		case text == "-- +goose StatementBegin":
			block = true
			continue
		case text == "-- +goose StatementEnd":
			block = false
		case block || strings.HasPrefix(text, "--") || !strings.HasSuffix(text, ";"):
			continue
		}
		list = append(list, statement(s.String()))
		s.Reset()
	}
	return append(list, statement(s.String()))
}
