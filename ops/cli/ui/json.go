package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/column"
)

// PrintJSON writes a value as indented JSON; a nil slice is an empty list.
func (env *Env) PrintJSON(value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if string(text) == "null" {
		text = []byte("[]")
	}
	return writeJSON(env.Stdout, text, err)
}

// PrintJSONLine writes a value as JSON on one line.
func PrintJSONLine(w io.Writer, value any) error {
	text, err := json.Marshal(value)
	return writeJSON(w, text, err)
}

func writeJSON(w io.Writer, text []byte, err error) error {
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = w.Write(append(escapeControls(text), '\n'))
	return err
}

// controls are the control characters that encoding/json leaves as they are: DEL
// and C1, some of which terminals take for the beginning of a command.
var controls = regexp.MustCompile(`[\x{7f}-\x{9f}]`)

// escapeControls escapes them. In JSON they stand in strings only.
func escapeControls(text []byte) []byte {
	return controls.ReplaceAllFunc(text, func(c []byte) []byte { return fmt.Appendf(nil, `\u%04x`, []rune(string(c))[0]) })
}

// jsonFormatter writes a log line as a JSON object.
type jsonFormatter struct{ logrus.JSONFormatter }

// Format implements [logrus.Formatter].
func (f *jsonFormatter) Format(entry *logrus.Entry) ([]byte, error) {
	text, err := f.JSONFormatter.Format(entry)
	return escapeControls(text), err
}

// OrNull is a value as JSON has it: null where a column is NULL or empty.
func OrNull[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}

// Value is the value of a column for people; empty for NULL.
func (env *Env) Value(v column.Value) string {
	switch {
	case v.Null:
		return ""
	case v.Kind == column.Time:
		return env.Moment(v.Time)
	case v.Kind == column.Seconds:
		return Seconds(v.Duration())
	case v.Kind == column.JSON:
		return Shorten(v.Text)
	}
	return v.String()
}

// Object is a JSON object whose members have an order, for people who read it.
type Object [][2]any // names and values

// ColumnsOf are the columns of a row as the members of an object: durations in seconds, and
// null where they are NULL.
func ColumnsOf[T any](row *T, columns []column.Column[T]) Object {
	object := make(Object, 0, len(columns)+4)
	for _, c := range columns {
		object = append(object, [2]any{c.Name, c.Get(row).Any()})
	}
	return object
}

// MarshalJSON implements [json.Marshaler].
func (o Object) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i, m := range o {
		name, err := json.Marshal(m[0])
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m[1])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}
