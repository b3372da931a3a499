package ui

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sirupsen/logrus"
)

// Logger writes to standard error as the flags say.
func (env *Env) Logger() *slog.Logger { return slog.New(handler{logger: env.lineLogger()}) }

// lineLogger formats the lines.
func (env *Env) lineLogger() *logrus.Logger {
	logger := logrus.New()
	logger.SetOutput(env.Stderr)
	level, err := logrus.ParseLevel(env.Flags.LogLevel.Value)
	if err == nil { // the flag allows no other
		logger.SetLevel(level)
	}
	logger.SetFormatter(lineFormatter{env.Zone, env.terminal(env.Stderr)})
	if env.Flags.LogFormat.Value == "json" {
		logger.SetFormatter(&jsonFormatter{})
	}
	return logger
}

// lineFormatter writes a line for people: local time with its offset, level, message, and the
// fields, the ones that matter most first. On a terminal, where somebody watches, it writes the time of day and a colour
// in place of the level, and while all is well no fields that tell a person little.
type lineFormatter struct {
	zone   *time.Location
	device Terminal
}

// isQuiet reports whether a field tells a reader of a terminal little while all is well.
func isQuiet(name string, value any) bool {
	return slices.Contains([]string{"jid", "worker", "name", "max_attempts"}, name) || name == "group" && value == "default"
}

// levelStyles are the colours of what is not well.
var levelStyles = map[logrus.Level]style{logrus.ErrorLevel: red, logrus.WarnLevel: yellow}

// Format implements [logrus.Formatter].
func (f lineFormatter) Format(entry *logrus.Entry) ([]byte, error) {
	var b bytes.Buffer
	watched := f.device.Width > 0
	if watched {
		message := fmt.Sprintf("%-13s", Printable(entry.Message))
		b.WriteString(f.device.paint(dim, entry.Time.In(f.zone).Format(time.TimeOnly)) + "  " + f.device.paint(levelStyles[entry.Level], message))
	} else {
		level := strings.ToUpper(entry.Level.String())[:4]
		fmt.Fprintf(&b, "%s %s  %-16s", entry.Time.Format("2006-01-02 15:04:05Z07:00"), level, entry.Message)
	}
	for _, name := range fieldsInOrder(entry.Data) {
		if !watched || entry.Level < logrus.InfoLevel || !isQuiet(name, entry.Data[name]) {
			fmt.Fprintf(&b, "  %s=%s", name, logValue(entry.Data[name]))
		}
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// firstFields are the names of the fields that matter most; the others follow by name.
var firstFields = []string{"task", "handler", "type", "topic", "sink", "state", "error", "problem", "reason", "while", "attempt", "max_attempts", "attempts", "due"}

func fieldsInOrder(fields logrus.Fields) []string {
	rank := func(name string) int {
		if at := slices.Index(firstFields, name); at >= 0 {
			return at
		}
		return len(firstFields)
	}
	names := slices.Sorted(maps.Keys(fields))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names
}

// logValue quotes what could be taken for more than one value.
func logValue(value any) string {
	if d, ok := value.(time.Duration); ok {
		value = d.Round(time.Millisecond)
	}
	text := fmt.Sprint(value)
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' || r == '=' }
	if text == "" || strings.ContainsFunc(text, odd) {
		return strconv.Quote(text)
	}
	return text
}
