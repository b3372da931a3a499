// Package statement runs SQL of the configuration as the work of jobs: in one transaction
// with the end of the job.
package statement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Statement is one statement of a text.
type Statement struct {
	Text   string   // with placeholders for its parameters
	Params []string // the names of the parameters, in the order of the placeholders
	words  []string // those outside of quotes and comments, in capitals
}

// token finds what a text is made of. Quotes, comments and casts come before what is like them.
var token = regexp.MustCompile(`(?s)--[^\n]*` +
	`|[eE]'(?:[^'\\]|''|\\.)*'?|'(?:[^']|'')*'?|"(?:[^"]|"")*"?` + "|`[^`]*`?" +
	`|\$[A-Za-z_]?\w*\$` +
	`|::|:[A-Za-z_]\w*|[\pL_][\pL\pN_$]*|;|/\*|.`)

// Parse splits a text into statements, and makes placeholders of parameters such as :day. mark
// begins a placeholder: $ or ?. It refuses what cannot be part of a job's transaction.
func Parse(text, mark string) (list []Statement, err error) {
	var s Statement
	var b strings.Builder
	end := func() {
		s.Text = strings.TrimSpace(b.String())
		if len(s.words) > 0 || s.Text != "" {
			list = append(list, s)
		}
		s = Statement{}
		b.Reset()
	}
	for at := 0; at < len(text); {
		part := token.FindString(text[at:])
		switch {
		case part == ";":
			end()
			at++
			continue
		case part == "/*":
			part = comment(text[at:])
		case len(part) > 1 && part[0] == '$' && part[len(part)-1] == '$':
			part = dollars(text[at:], part)
		case part[0] == ':' && len(part) > 1 && part != "::":
			b.WriteString(s.placeholder(part[1:], mark))
			at += len(part)
			continue
		case isWord(part):
			s.words = append(s.words, strings.ToUpper(part))
		}
		b.WriteString(part)
		at += len(part)
	}
	end()
	list = slices.DeleteFunc(list, func(s Statement) bool { return len(s.words) == 0 }) // only comments
	if len(list) == 0 {
		return nil, fmt.Errorf("there is no statement")
	}
	for _, s := range list {
		if why := s.refused(); why != "" {
			return nil, fmt.Errorf("%s: %s", s.words[0], why)
		}
	}
	return list, nil
}

func (s *Statement) placeholder(name, mark string) string {
	n := slices.Index(s.Params, name)
	if n < 0 {
		n = len(s.Params)
		s.Params = append(s.Params, name)
	}
	return fmt.Sprintf("%s%d", mark, n+1)
}

// comment is a comment at the beginning of a text. They nest.
func comment(text string) string {
	depth := 0
	for i := 0; i < len(text)-1; i++ {
		switch text[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			if i++; depth == 0 {
				return text[:i+1]
			}
		}
	}
	return text
}

// dollars is a text between dollars at the beginning of a text.
func dollars(text, tag string) string {
	if n := strings.Index(text[len(tag):], tag); n >= 0 {
		return text[:n+2*len(tag)]
	}
	return text
}

func isWord(part string) bool { return regexp.MustCompile(`^[\pL_]`).MatchString(part) }

const (
	ends    = "the job has one transaction, which nextrun begins and ends"
	outside = "it cannot run in a transaction; use a handler with a command, such as psql"
	session = "it would change the connection for what runs on it later"
)

// refused says why a statement cannot be part of the transaction of a job; empty: it can, as far
// as its words tell.
func (s *Statement) refused() string {
	w := append(slices.Clone(s.words), "", "")
	concurrently := slices.Contains(w, "CONCURRENTLY")
	switch w[0] {
	case "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE":
		return ends
	case "VACUUM", "CLUSTER":
		return outside
	case "CREATE", "DROP", "REINDEX", "ALTER":
		whole := slices.Contains([]string{"DATABASE", "TABLESPACE", "SYSTEM", "SUBSCRIPTION", "SCHEMA"}, w[1])
		if concurrently || whole && (w[1] != "SCHEMA" || w[0] == "REINDEX") && (w[0] != "ALTER" || w[1] == "SYSTEM") {
			return outside
		}
	case "SET":
		if w[1] != "LOCAL" && w[1] != "CONSTRAINTS" {
			return session + "; use SET LOCAL"
		}
	case "RESET", "DISCARD", "LISTEN", "UNLISTEN", "LOAD", "PREPARE", "DEALLOCATE", "PRAGMA", "ATTACH", "DETACH":
		return session
	}
	return ""
}

var ending = regexp.MustCompile(`(?i)\b(commit|rollback)\b`)

// Commits says why a statement may end its transaction when it runs, or take its data from a client;
// empty: it does not.
func (s *Statement) Commits() string {
	switch {
	case s.words[0] == "CALL":
		return "CALL: a procedure may commit"
	case s.words[0] == "DO" && ending.MatchString(s.Text):
		return "DO: it may commit"
	case s.words[0] == "COPY":
		return "COPY: it may need a client"
	}
	return ""
}
