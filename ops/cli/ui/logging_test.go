package ui

import (
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
)

// handled is a line as a handler writes it.
func handled(t *testing.T, h func(io.Writer) slog.Handler, at time.Time, level slog.Level, message string, fields ...any) string {
	t.Helper()
	var b strings.Builder
	line := slog.NewRecord(at, level, message, 0)
	line.Add(fields...)
	if err := h(&b).Handle(t.Context(), line); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What somebody at a terminal reads.
func TestLogOfTerminal(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 14, 33, 20, 0, time.UTC)
	terminal := func(w io.Writer) slog.Handler {
		return &lineHandler{zone: time.UTC, device: Terminal{Width: 80}, mu: &sync.Mutex{}, to: w}
	}
	for _, c := range []struct {
		level   slog.Level
		message string
		fields  []any
		want    string
	}{
		{slog.LevelInfo, "started", []any{"db", "sqlite:a b", "name", "host"},
			"14:33:20  started        db=\"sqlite:a b\"\n"},
		{slog.LevelInfo, "job done", []any{"task", "a", "group", "default"},
			"14:33:20  job done       task=a\n"},
		{slog.LevelInfo, "job done", []any{"task", "a", "group", "night"},
			"14:33:20  job done       task=a  group=night\n"},
		{slog.LevelError, "database does not work, retrying", []any{"error", "refused", "name", "x"},
			"14:33:20  database does not work, retrying  error=refused  name=x\n"},
	} {
		if got := handled(t, terminal, at, c.level, c.message, c.fields...); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// In files lines have the date and a zone, and the fields that matter most come first.
func TestLogLine(t *testing.T) {
	t.Parallel()
	file := func(w io.Writer) slog.Handler {
		return (&lineHandler{mu: &sync.Mutex{}, to: w}).WithAttrs([]slog.Attr{slog.String("group", "g")})
	}
	got := handled(t, file, time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600)), slog.LevelWarn, "job ended",
		"jid", "j", "error", "a b", "state", "failed", "task", "i", "took", 1234567*time.Nanosecond)
	want := "2026-03-01 12:00:00+01:00 WARN  job ended         task=i  state=failed  error=\"a b\"  group=g  jid=j  took=1ms\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// For programs a line is an object, with the levels that --log-level has, and without control characters.
func TestLogInJSON(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	env := &Env{Stderr: &out, Flags: GlobalFlags{LogFormat: Choice{Value: "json"}, LogLevel: Choice{Value: "info"}}}
	log := env.Logger()
	log.Debug("not this one")
	log.With("task", "a").Warn("failed", "error", errors.New("no\u009bdisk"), "attempt", 2)
	want := `"level":"warning","msg":"failed","task":"a","error":"no\u009bdisk","attempt":2}` + "\n"
	if _, got, _ := strings.Cut(out.String(), ","); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
