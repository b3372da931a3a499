package foreign

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// withClause is the beginning of a statement that has common table expressions of its
// own, behind space and comments.
var withClause = regexp.MustCompile(`(?is)^(?:\s+|--[^\n]*\n|/\*.*?\*/)*(with\s+)(recursive\s+)?`)

// UserStatement is a statement of a user's behind a relation for it to read. An empty one
// stays empty.
func UserStatement(relation, text string) Statement {
	if strings.TrimSpace(text) == "" {
		return Statement{}
	}
	text = strings.TrimRight(text, "; \t\r\n")
	with := withClause.FindStringSubmatchIndex(text)
	if with == nil {
		return Statement{text: "WITH " + relation + "\n", user: text}
	}
	recursive := ""
	if with[4] >= 0 {
		recursive = "RECURSIVE "
	}
	return Statement{text: "WITH " + recursive + relation + ",\n", user: text[with[1]:], before: text[:with[1]]}
}

// nearby finds the word that a database complains about: SQLite tells no position.
var nearby = regexp.MustCompile(`"([^"]+)"|no such (?:table|column|function): (\S+)`)

// place says where in the user's text an error is: "line 1, column 8: ", or nothing
// if that is not known. sent is the statement that failed.
func (s Statement) place(sent Statement, r sqldb.Records, said sqldb.Said) string {
	at := -1 // in bytes of the user's text
	if said.Position > 0 {
		at = byteOf(s.user, said.Position-1-utf8.RuneCountInString(sent.rendered(r, "")))
	}
	if found := nearby.FindStringSubmatch(said.Message); found != nil {
		word := found[1] + found[2]
		// A driver that writes parameters into the text shifts positions.
		if at < 0 || !strings.HasPrefix(s.user[at:], word) {
			at = only(s.user, word, at)
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

// only is where a text holds a word, if that is in one place, or else another place.
func only(text, word string, or int) int {
	if at := strings.Index(text, word); at >= 0 && at == strings.LastIndex(text, word) {
		return at
	}
	return or
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

// asks are the names of statements about open jobs that only read.
var asks = map[string]bool{"pending": true, "outcome": true}

// Check reports what the database says against a statement, and where.
func (s Statement) Check(ctx context.Context, tx *sqldb.Tx, none sqldb.Records, name string, r *Inspection, more ...any) error {
	var rows result
	err := saved(ctx, tx, func() (err error) {
		if err = plan(ctx, tx, s, none, more...); err == nil && asks[name] {
			rows, err = query(ctx, tx, s, "", none)
		}
		return err
	})
	has := func(column string) bool { return slices.Contains(rows.columns, column) }
	switch {
	case err == nil && asks[name] && !has("ref") && !has("jid"):
		r.Problem("", "%s: it returns the columns %s; it must return ref or jid", name, strings.Join(rows.columns, ", "))
		return nil
	case err == nil && name == "outcome" && !has("outcome"):
		r.Problem("", "outcome: it returns the columns %s; it must return outcome", strings.Join(rows.columns, ", "))
		return nil
	case err == nil:
		return nil
	case name == "outcome" && strings.Contains(strings.ReplaceAll(tx.DB().Say(err).Message, "-", ""), "readonly"):
		r.Problem("", "outcome: it writes; it must only read")
		return nil
	case errors.Is(err, sqldb.ErrBusy), errors.Is(err, sqldb.ErrUnavailable), ctx.Err() != nil:
		return err
	}
	said := tx.DB().Say(err)
	if said.Message == "" {
		return err
	}
	r.Problem("", "%s: %s%s", name, s.place(explained(s), none, said), words(tx.DB(), err))
	return nil
}
