// Package statement runs SQL of the configuration as the work of jobs: in one transaction
// with the end of the job.
package statement

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// Work is SQL that runs as the work of jobs, in one transaction with the end of the job.
type Work struct {
	// SQL are the statements, in order. A parameter such as :day has the value of
	// that name in the job's args, which are a JSON object then; :nextrun_due is the tick
	// (UTC; NULL if there is none), :nextrun_job_id the job and :nextrun_task its task.
	// PostgreSQL takes a value for what the statement needs there; use a cast, such as
	// :day::date, where that is not clear.
	SQL []string
	// Role runs the SQL (PostgreSQL). The role of the connection must be a member of it. It limits what the
	// statement can do by mistake; functions that the statement calls can go back to the role of the connection.
	Role string `yaml:"role"`
	// Timeout is how long an attempt may take. 0: no limit.
	Timeout time.Duration `yaml:"timeout"`
}

// longest is the greatest Timeout.
const longest = 1000 * time.Hour

// Validate returns an error that says what is wrong with the statements, as far as that
// shows without a database: what begins or ends a transaction, cannot run in one, or changes the
// connection is refused.
func (w Work) Validate() error {
	p := &service.Check{Config: "statement.Work"}
	p.Field(0 <= w.Timeout && w.Timeout <= longest, "Timeout", w.Timeout, "a duration from 1ms to 1000h, or 0 for none")
	p.Field(!strings.ContainsRune(w.Role, 0) && len(w.Role) <= 63, "Role", w.Role, "at most 63 bytes, and no NUL")
	_, err := w.parse("$")
	return errors.Join(p.Err(), err)
}

func (w Work) parse(mark string) (list []statement, err error) {
	if len(w.SQL) == 0 {
		return nil, errors.New("there is no statement")
	}
	for i, text := range w.SQL {
		s, err := parse(text, mark)
		if err != nil {
			return nil, w.at(i, err)
		}
		list = append(list, s)
	}
	return list, nil
}

// at says which of several statements an error is of.
func (w Work) at(i int, err error) error {
	if err == nil || len(w.SQL) == 1 {
		return err
	}
	return fmt.Errorf("statement %d: %w", i+1, err)
}

// statement is one of them.
type statement struct {
	text   string   // with placeholders for its parameters
	params []string // the names of the parameters, in the order of the placeholders
	words  []string // those outside of quotes and comments, in capitals
}

// token finds what a text is made of. Quotes, comments and casts come before what is like them.
var token = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/` +
	`|[eE]'(?:[^'\\]|''|\\.)*'?|'(?:[^']|'')*'?|"(?:[^"]|"")*"?` + "|`[^`]*`?" +
	`|\$[A-Za-z_]?\w*\$` +
	`|::|:[A-Za-z_]\w*|[\pL_][\pL\pN_$]*|.`)

// parse makes placeholders of parameters such as :day. mark begins a placeholder: $ or ?. It
// refuses what is more than one statement, or cannot be part of a job's transaction.
func parse(text, mark string) (s statement, err error) {
	var b strings.Builder
	for rest := text; rest != ""; {
		part := token.FindString(rest)
		if len(part) > 1 && part[0] == '$' { // up to the same mark
			if end := strings.Index(rest[len(part):], part); end >= 0 {
				part = rest[:end+2*len(part)]
			}
		}
		rest = rest[len(part):]
		switch {
		case part == ";" && strings.TrimSpace(rest) != "":
			return s, errors.New("this is more than one statement; write a list of them")
		case part[0] == ':' && len(part) > 1 && part != "::":
			part = s.placeholder(part[1:], mark)
		case word.MatchString(part):
			s.words = append(s.words, strings.ToUpper(part))
		}
		b.WriteString(part)
	}
	if s.text = b.String(); len(s.words) == 0 {
		return s, errors.New("there is no statement")
	}
	if why := s.refused(); why != "" {
		return s, fmt.Errorf("%s: %s", s.words[0], why)
	}
	return s, nil
}

var word = regexp.MustCompile(`^[\pL_][\pL\pN_$]*$`)

func (s *statement) placeholder(name, mark string) string {
	n := slices.Index(s.params, name)
	if n < 0 {
		n = len(s.params)
		s.params = append(s.params, name)
	}
	return fmt.Sprintf("%s%d", mark, n+1)
}

// reads reports whether a statement changes no rows.
func (s *statement) reads() bool {
	changes := func(word string) bool {
		return slices.Contains([]string{"INSERT", "UPDATE", "DELETE", "REPLACE"}, word)
	}
	return slices.Contains([]string{"SELECT", "VALUES", "WITH"}, s.words[0]) && (s.words[0] != "WITH" || !slices.ContainsFunc(s.words, changes))
}

// refused says why a statement cannot be part of the transaction of a job; empty: it can, as far
// as its words tell.
func (s *statement) refused() string {
	switch verb := s.words[0]; {
	case slices.Contains([]string{"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"}, verb):
		return "the job has one transaction, which nextrun begins and ends"
	case verb == "VACUUM", verb != "REFRESH" && slices.Contains(s.words, "CONCURRENTLY"):
		return "it cannot run in a transaction; use a handler with a command, such as psql"
	case verb == "SET" && (len(s.words) < 2 || s.words[1] != "LOCAL" && s.words[1] != "CONSTRAINTS"):
		return "it would change the connection for what runs on it later; use SET LOCAL"
	case slices.Contains([]string{"RESET", "DISCARD", "LISTEN", "UNLISTEN", "LOAD", "PREPARE", "DEALLOCATE", "PRAGMA", "ATTACH", "DETACH"}, verb):
		return "it would change the connection for what runs on it later"
	}
	return ""
}
