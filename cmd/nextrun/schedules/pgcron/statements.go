package pgcron

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
)

// statements reads calls of cron.schedule(schedule, command), cron.schedule(name,
// schedule, command) and cron.schedule_in_database(name, schedule, command, database,
// username, active) with literals. Nothing else of the file counts, not even
// conditions around a call.
func (r *reader) statements(text string) {
	at, line, counted := 0, 1, 0
	for len(r.items) < schedules.MaxItems {
		start, end := nextCall(text, at)
		if start < 0 {
			return
		}
		line += strings.Count(text[counted:start], "\n")
		counted = start
		at = end
		call := text[start:end]
		arguments, after, err := literals(text, end)
		if err == nil && len(arguments) == 0 {
			err = errNoArguments
		}
		if err != nil {
			r.refuse(line, "cron.schedule", err.Error())
			continue
		}
		at = after
		if strings.Contains(strings.ToLower(call), "unschedule") {
			r.replaced(arguments[0], fmt.Sprintf("line %d takes the job away again", line))
			continue
		}
		j, err := jobOf(call, arguments)
		if err != nil {
			r.refuse(line, "cron.schedule", err.Error())
			continue
		}
		j.Line = line
		r.replaced(j.Name, fmt.Sprintf("line %d schedules a job of the same name in its place", line))
		r.job(&j)
	}
	r.items = append(r.items, schedules.TooMany(r.path, 0))
}

// jobOf is the job of a call with its arguments.
func jobOf(call string, arguments []string) (j Job, err error) {
	j.Active = true
	inDatabase := strings.Contains(strings.ToLower(call), "in_database")
	switch n := len(arguments); {
	case n == 2 && !inDatabase:
		j.Schedule, j.Command = arguments[0], arguments[1]
	case n == 3 && !inDatabase:
		j.Name, j.Schedule, j.Command = arguments[0], arguments[1], arguments[2]
	case n >= 4 && n <= 6 && inDatabase:
		j.Name, j.Schedule, j.Command, j.Database = arguments[0], arguments[1], arguments[2], arguments[3]
		if n >= 5 {
			j.Username = arguments[4]
		}
		if n == 6 {
			j.Active = strings.HasPrefix(strings.ToLower(arguments[5]), "t")
		}
	default:
		return j, fmt.Errorf("a call with %d arguments is not known", n)
	}
	return j, nil
}

var errNoArguments = errors.New("the call has no arguments")

// replaced refuses the earlier job of a name, which is no more after a later call.
func (r *reader) replaced(name, why string) {
	for i := range r.items {
		if e := r.items[i].Entry; e != nil && name != "" && r.calls[i] == name {
			r.items[i].Entry, r.items[i].Changed, r.items[i].Refused = nil, nil, why
		}
	}
}

// inserted reads the rows of INSERT INTO cron.job.
func (r *reader) inserted(text string) {
	line, counted := 1, 0
	for _, m := range rowsOf.FindAllStringSubmatchIndex(text, -1) {
		head := columns
		if m[2] >= 0 {
			head = names(text[m[2]:m[3]])
		}
		for at, more := m[1], true; more; {
			line += strings.Count(text[counted:at], "\n")
			counted = at
			cells, after, err := literals(text, at)
			if err != nil {
				r.refuse(line, "INSERT", err.Error())
				break
			}
			if len(r.items) == schedules.MaxItems {
				r.items = append(r.items, schedules.TooMany(r.path, line))
				return
			}
			r.row(line, head, cells)
			rest := strings.TrimLeft(text[after:], " \t\n")
			if more = strings.HasPrefix(rest, ","); more {
				rest = strings.TrimLeft(rest[1:], " \t\n")
				more = strings.HasPrefix(rest, "(")
				at = len(text) - len(rest) + 1
			}
		}
	}
}

// nextCall finds the name and the parenthesis of a call, outside comments and texts.
func nextCall(text string, at int) (start, end int) {
	for at < len(text) {
		if n := skip(text, at); n > at {
			at = n
			continue
		}
		if c := text[at]; c == 'c' || c == 'C' {
			window := text[at:min(len(text), at+100)]
			if m := callLine.FindStringIndex(window); len(m) > 0 && m[0] == 0 && (at == 0 || !isName(text[at-1])) {
				return at, at + m[1]
			}
		}
		at++
	}
	return -1, -1
}

func isName(c byte) bool {
	return c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// skip returns the end of a comment or a text that begins at a place, or the place.
func skip(text string, at int) int {
	rest := text[at:]
	switch {
	case strings.HasPrefix(rest, "--"):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			return at + n
		}
		return len(text)
	case strings.HasPrefix(rest, "/*"):
		if n := strings.Index(rest, "*/"); n >= 0 {
			return at + n + 2
		}
		return len(text)
	case rest[0] == '\'':
		if _, n, err := quoted(rest, false); err == nil {
			return at + n
		}
	}
	return at
}

// literals reads the arguments of a call up to its closing parenthesis. NULL is empty.
func literals(text string, at int) (list []string, after int, err error) {
	for at < len(text) {
		switch c := text[at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == ',':
			at++
		case c == ')':
			return list, at + 1, nil
		case strings.HasPrefix(text[at:], "--") || strings.HasPrefix(text[at:], "/*"):
			at = skip(text, at)
		default:
			value, n, err := literal(text[at:])
			if err != nil {
				return nil, at, err
			}
			list = append(list, value)
			at += n
			for _, cast := range []string{"::text", "::name", "::boolean"} {
				if strings.HasPrefix(text[at:], cast) {
					at += len(cast)
				}
			}
		}
	}
	return nil, at, fmt.Errorf("the call has no end")
}

// literal reads one argument: '...', E'...', $tag$...$tag$, a whole number or a word such as
// true.
func literal(rest string) (value string, n int, err error) {
	switch {
	case rest[0] == '\'':
		return quoted(rest, false)
	case (rest[0] == 'E' || rest[0] == 'e') && len(rest) > 1 && rest[1] == '\'':
		value, n, err = quoted(rest[1:], true)
		return value, n + 1, err
	case rest[0] == '$':
		end := strings.IndexByte(rest[1:], '$')
		if end < 0 {
			break
		}
		tag := rest[:end+2]
		body, _, closed := strings.Cut(rest[len(tag):], tag)
		if !closed {
			return "", 0, fmt.Errorf("%s has no end", tag)
		}
		return body, len(body) + 2*len(tag), nil
	}
	for n < len(rest) && isName(rest[n]) {
		n++
	}
	switch word := strings.ToLower(rest[:n]); {
	case word == "true" || word == "false":
		return word, n, nil
	case word != "" && strings.Trim(word, "0123456789") == "":
		return word, n, nil
	case word == "null":
		return "", n, nil
	}
	return "", 0, fmt.Errorf("an argument is no literal; write it as '...' or $$...$$")
}

// quoted reads a text in quotes; with escapes, backslashes have a meaning.
func quoted(rest string, escapes bool) (value string, n int, err error) {
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch {
		case escapes && rest[i] == '\\' && i+1 < len(rest):
			i++
			if at := strings.IndexByte("bfnrt", rest[i]); at >= 0 {
				b.WriteByte("\b\f\n\r\t"[at])
			} else {
				b.WriteByte(rest[i])
			}
		case rest[i] == '\'' && i+1 < len(rest) && rest[i+1] == '\'':
			b.WriteByte('\'')
			i++
		case rest[i] == '\'':
			return b.String(), i + 1, nil
		default:
			b.WriteByte(rest[i])
		}
	}
	return "", 0, fmt.Errorf("a text has no end")
}
