package queues

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// withClause is the beginning of a statement that has common table expressions of its
// own, behind space and comments.
var withClause = regexp.MustCompile(`(?is)^(?:\s+|--[^\n]*\n|/\*.*?\*/)*(with\s+)(recursive\s+)?`)

// users is a statement of a user's behind a relation for it to read. An empty one
// stays empty.
func users(relation, text string) statement {
	if strings.TrimSpace(text) == "" {
		return statement{}
	}
	text = strings.TrimRight(text, "; \t\r\n")
	with := withClause.FindStringSubmatchIndex(text)
	if with == nil {
		return statement{text: "WITH " + relation + "\n", user: text}
	}
	recursive := ""
	if with[4] >= 0 {
		recursive = "RECURSIVE "
	}
	return statement{text: "WITH " + recursive + relation + ",\n", user: text[with[1]:], before: text[:with[1]]}
}

// nearby finds the word that SQLite complains about, which tells no position.
var nearby = regexp.MustCompile(`near "([^"]+)"|no such (?:table|column|function): (\S+)`)

// place says where in the user's text an error is: "line 1, column 8: ", or nothing
// if that is not known. sent is the statement that failed.
func (s statement) place(sent statement, r sqldb.Records, said sqldb.Said) string {
	at := -1 // in bytes of the user's text
	switch word := nearby.FindStringSubmatch(said.Message); {
	case said.Position > 0:
		at = byteOf(s.user, said.Position-1-utf8.RuneCountInString(sent.rendered(r, "")))
	case word != nil:
		if at = strings.Index(s.user, word[1]+word[2]); at != strings.LastIndex(s.user, word[1]+word[2]) {
			at = -1
		}
	}
	if at < 0 {
		return ""
	}
	read := s.before + s.user[:at]
	line := strings.Count(read, "\n") + 1
	column := utf8.RuneCountInString(read[strings.LastIndexByte(read, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d: ", line, column)
}

// byteOf is where the character n of a text begins; -1 if it has none.
func byteOf(text string, n int) int {
	for at := range text {
		if n == 0 {
			return at
		}
		n--
	}
	if n == 0 {
		return len(text)
	}
	return -1
}
