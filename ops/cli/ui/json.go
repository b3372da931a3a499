package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"

	"github.com/sirupsen/logrus"
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
