package script

import (
	"regexp"
	"strings"
)

// Object is a part of the schema that a file makes.
type Object struct {
	Kind   string // table, column, index, trigger, function or view
	Table  string // empty of a function
	Name   string
	Create string // the statement that makes it
}

// The kinds of objects.
const (
	Table    = "table"
	Column   = "column"
	Index    = "index"
	Trigger  = "trigger"
	Function = "function"
	View     = "view"
)

// String names the object.
func (o Object) String() string {
	switch o.Kind {
	case Column:
		return "column " + o.Table + "." + o.Name
	case Index, Trigger:
		return o.Kind + " " + o.Name + " on " + o.Table
	}
	return o.Kind + " " + o.Name
}

// The files are written so that these find all that they create: each column on a line of its own,
// indented by two blanks, with its further lines indented more.
var (
	creates = regexp.MustCompile(`(?s)^CREATE (?:UNIQUE |UNLOGGED )?(TABLE|INDEX|TRIGGER|FUNCTION|VIEW) (\w+)`)
	table   = regexp.MustCompile(`(?s)^(?:CREATE|CREATE UNLOGGED|ALTER) TABLE (\w+)`)
	target  = regexp.MustCompile(`\sON (\w+)`)
	column  = regexp.MustCompile(`(?:^  |\bADD COLUMN )([a-z]\w*) `)
)

// Objects lists what the way up of a file creates, in its order.
func Objects(text string) (list []Object) {
	up, _, _ := strings.Cut(text, "-- +goose Down")
	for _, s := range statements(up) {
		code := s.code()
		if m := creates.FindStringSubmatch(code); m != nil {
			o := Object{Kind: strings.ToLower(m[1]), Name: m[2], Create: code}
			switch on := target.FindStringSubmatch(code); {
			case o.Kind == Table || o.Kind == View:
				o.Table = o.Name
			case o.Kind != Function && on != nil:
				o.Table = on[1]
			}
			list = append(list, o)
		}
		if m := table.FindStringSubmatch(code); m != nil {
			list = append(list, columns(m[1], code)...)
		}
	}
	return list
}

// columns are those of a statement that creates or alters a table.
func columns(table, code string) (list []Object) {
	var last *Object
	for _, line := range strings.Split(code, "\n") {
		m := column.FindStringSubmatchIndex(line)
		switch {
		case m != nil:
			list = append(list, Object{Kind: Column, Table: table, Name: line[m[2]:m[3]], Create: line[m[2]:]})
			last = &list[len(list)-1]
		case last != nil && strings.HasPrefix(line, "   "):
			last.Create += "\n" + line
		default:
			last = nil
		}
	}
	for i, o := range list {
		list[i].Create = "ALTER TABLE " + table + " ADD COLUMN " + strings.TrimRight(strings.TrimSpace(o.Create), ",;") + ";"
	}
	return list
}
