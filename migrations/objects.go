package migrations

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Object is a part of the schema that the file makes.
type Object struct {
	Kind   string // table, column, index, trigger, function or view
	Table  string // empty of a function
	Name   string
	Create string // the statement that makes it
}

const (
	kindTable    = "table"
	kindColumn   = "column"
	kindIndex    = "index"
	kindTrigger  = "trigger"
	kindFunction = "function"
	kindView     = "view"
)

// String names the object.
func (o Object) String() string {
	switch o.Kind {
	case kindColumn:
		return "column " + o.Table + "." + o.Name
	case kindIndex, kindTrigger:
		return o.Kind + " " + o.Name + " on " + o.Table
	}
	return o.Kind + " " + o.Name
}

// The files are written so that these find all that they create: each column on its own line,
// indented by two blanks, with its further lines indented more.
var (
	creates = regexp.MustCompile(`(?s)^CREATE (?:UNIQUE |UNLOGGED )?(TABLE|INDEX|TRIGGER|FUNCTION|VIEW) (\w+)`)
	altered = regexp.MustCompile(`(?s)^(?:CREATE|CREATE UNLOGGED|ALTER) TABLE (\w+)`)
	target  = regexp.MustCompile(`\sON (\w+)`)
	added   = regexp.MustCompile(`(?:^  |\bADD COLUMN )([a-z]\w*) `)
)

// objectsOf lists what the way up of a file creates, in its order.
func objectsOf(text string) (list []Object) {
	for _, code := range statements(text) {
		if m := creates.FindStringSubmatch(code); m != nil {
			o := Object{Kind: strings.ToLower(m[1]), Name: m[2], Create: code}
			switch on := target.FindStringSubmatch(code); {
			case o.Kind == kindTable || o.Kind == kindView:
				o.Table = o.Name
			case o.Kind != kindFunction && on != nil:
				o.Table = on[1]
			}
			list = append(list, o)
		}
		if m := altered.FindStringSubmatch(code); m != nil {
			list = append(list, columnsOf(m[1], code)...)
		}
	}
	return list
}

// columnsOf are those of a statement that creates or alters a table.
func columnsOf(table, code string) (list []Object) {
	var last *Object
	for _, line := range strings.Split(code, "\n") {
		m := added.FindStringSubmatchIndex(line)
		switch {
		case m != nil:
			list = append(list, Object{Kind: kindColumn, Table: table, Name: line[m[2]:m[3]], Create: line[m[2]:]})
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

// statements are those of the way up of a file, as goose takes them apart, without the comments between them.
func statements(text string) (list []string) {
	up, _, _ := strings.Cut(text, "-- +goose Down")
	var s strings.Builder
	block := false
	for line := range strings.Lines(up) {
		text := strings.TrimSpace(line)
		begins, ends := text == "-- +goose StatementBegin", text == "-- +goose StatementEnd"
		block = begins || block && !ends
		if block || !strings.HasPrefix(text, "--") {
			s.WriteString(line)
		}
		if ends || !block && strings.HasSuffix(text, ";") {
			list = append(list, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s.String()), "-- +goose StatementBegin")))
			s.Reset()
		}
	}
	return list
}

// drops are the statements that remove what a file has created, so that the file need not say it twice. What
// it has added to tables that it has not created is removed one by one, the rest with its table.
func drops(list []Object, dialect Dialect) string {
	own := map[string]bool{}
	for _, o := range list {
		own[o.Table] = own[o.Table] || o.Kind == kindTable
	}
	var text strings.Builder
	for _, kind := range []string{kindView, kindTrigger, kindIndex, kindColumn, kindTable, kindFunction} {
		for _, o := range slices.Backward(list) {
			if o.Kind != kind {
				continue
			}
			switch {
			case kind == kindTrigger && dialect == Postgres:
				fmt.Fprintf(&text, "DROP TRIGGER IF EXISTS %s ON %s;\n", o.Name, o.Table)
			case kind == kindView || kind == kindTrigger || kind == kindTable || kind == kindFunction || kind == kindIndex && !own[o.Table]:
				fmt.Fprintf(&text, "DROP %s IF EXISTS %s;\n", strings.ToUpper(kind), o.Name)
			case kind == kindColumn && !own[o.Table]:
				fmt.Fprintf(&text, "ALTER TABLE %s DROP COLUMN %s;\n", o.Table, o.Name)
			}
		}
	}
	return text.String()
}
