package ui

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Logger writes to standard error as the flags say.
func (env *Env) Logger() *slog.Logger { return slog.New(env.logTo(env.Stderr)) }

// logLevels are the levels by their words.
var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warning": slog.LevelWarn, "error": slog.LevelError}

// logTo writes log lines, each in one call, in the form that fits standard error.
func (env *Env) logTo(w io.Writer) slog.Handler {
	level := logLevels[env.Flags.LogLevel.Value]
	if env.Flags.LogFormat.Value == "json" {
		return slog.NewJSONHandler(escaped{w}, &slog.HandlerOptions{Level: level, ReplaceAttr: levelInWords})
	}
	return &lineHandler{level: level, zone: env.Zone, device: env.terminal(env.Stderr), mu: &sync.Mutex{}, to: w}
}

// levelInWords writes the level of a JSON line as --log-level has it.
func levelInWords(_ []string, a slog.Attr) slog.Attr {
	for word, level := range logLevels {
		if a.Key == slog.LevelKey && a.Value.Any() == level {
			return slog.String(a.Key, word)
		}
	}
	return a
}

// lineHandler writes a line for people: local time with its offset, level, message, and the
// fields, the ones that matter most first. On a terminal, where somebody watches, it writes the time of day and a colour
// in place of the level, and while all is well no fields that tell a person little.
type lineHandler struct {
	level  slog.Level
	zone   *time.Location
	device Terminal
	fields []slog.Attr // of all lines

	mu *sync.Mutex // of the writer
	to io.Writer
}

// Enabled implements [slog.Handler].
func (h *lineHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// WithAttrs implements [slog.Handler].
func (h *lineHandler) WithAttrs(more []slog.Attr) slog.Handler {
	with := *h
	with.fields = slices.Concat(h.fields, more)
	return &with
}

// WithGroup implements [slog.Handler]. Nothing of ours groups its fields.
func (h *lineHandler) WithGroup(string) slog.Handler { return h }

// Handle implements [slog.Handler].
func (h *lineHandler) Handle(_ context.Context, line slog.Record) error {
	var b bytes.Buffer
	watched := h.device.Width > 0
	if watched {
		message := fmt.Sprintf("%-13s", Printable(line.Message))
		b.WriteString(h.device.paint(dim, line.Time.In(h.zone).Format(time.TimeOnly)) + "  " + h.device.paint(levelStyles[line.Level], message))
	} else {
		fmt.Fprintf(&b, "%s %-5s %-16s", line.Time.Format("2006-01-02 15:04:05Z07:00"), line.Level, line.Message)
	}
	fields := slices.Clone(h.fields)
	line.Attrs(func(a slog.Attr) bool { fields = append(fields, a); return true })
	slices.SortStableFunc(fields, byImportance)
	for _, f := range fields {
		if !watched || line.Level >= slog.LevelWarn || !isQuiet(f) {
			fmt.Fprintf(&b, "  %s=%s", f.Key, logValue(f.Value.Resolve().Any()))
		}
	}
	b.WriteByte('\n')
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.to.Write(b.Bytes())
	return err
}

// levelStyles are the colours of what is not well.
var levelStyles = map[slog.Level]style{slog.LevelError: red, slog.LevelWarn: yellow}

// isQuiet reports whether a field tells a reader of a terminal little while all is well.
func isQuiet(f slog.Attr) bool {
	return slices.Contains([]string{"jid", "worker", "name", "max_attempts"}, f.Key) || f.Key == "group" && f.Value.String() == "default"
}

// firstFields are the names of the fields that matter most; the others follow by name.
var firstFields = []string{"task", "handler", "type", "topic", "sink", "state", "error", "problem", "reason", "while", "attempt", "max_attempts", "attempts", "due"}

func byImportance(a, b slog.Attr) int {
	rank := func(name string) int {
		if at := slices.Index(firstFields, name); at >= 0 {
			return at
		}
		return len(firstFields)
	}
	return cmp.Or(rank(a.Key)-rank(b.Key), strings.Compare(a.Key, b.Key))
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
