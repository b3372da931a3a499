package ui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// watched runs Watch with a write that counts, for some seconds.
func watched(t *testing.T, text string, width int, seconds float64) (out string, times int) {
	t.Helper()
	var stdout bytes.Buffer
	env := &Env{Stdout: &stdout, Now: time.Now, Zone: time.UTC, Getenv: func(string) string { return "" }}
	if width > 0 {
		env.Terminal = func(io.Writer) int { return width }
	}
	var w Watch
	if text != "" {
		if err := w.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds*float64(time.Second)))
	defer cancel()
	err := w.Run(ctx, env, func() error {
		times++
		table := NewTable("N", "TEXT")
		table.Add(times, strings.Repeat("long-", 30))
		return env.PrintTable(table, nil, false)
	})
	if err != nil {
		t.Error(err)
	}
	return stdout.String(), times
}

func TestWatchWritesOnceWithoutTheFlag(t *testing.T) {
	t.Parallel()
	if out, times := watched(t, "", 0, 10); times != 1 || strings.Contains(out, "\x1b") {
		t.Errorf("%d times: %q", times, out)
	}
}

// A file or a pipe gets one text after the other.
func TestWatchAppendsWhereThereIsNoTerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out, times := watched(t, "2s", 0, 5)
		if times != 3 || strings.Count(out, "\n\nN  TEXT\n") != 2 || strings.Contains(out, "\x1b") || !strings.HasSuffix(out, "long-\n") {
			t.Errorf("%d times: %q", times, out)
		}
	})
}

// A terminal shows it on a screen of its own, in the same place, and gets its own
// screen back, with what was shown last.
func TestWatchRedrawsOnATerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out, times := watched(t, "1s", 80, 2.5)
		screens := strings.Split(out, home)
		if times != 3 || len(screens) != 4 || !strings.HasPrefix(out, enterScreen) {
			t.Fatalf("%d times: %q", times, out)
		}
		for _, s := range screens[1:3] {
			if !strings.Contains(s, "every 1s, ") || strings.Count(s, eraseLine) != 3 || !strings.HasSuffix(s, eraseBelow) {
				t.Errorf("a screen is %q", s)
			}
			for line := range strings.SplitSeq(s, "\n") {
				if n := len([]rune(strings.NewReplacer(eraseLine, "", eraseBelow, "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[0m", "").Replace(line))); n > 80 {
					t.Errorf("a line has %d columns: %q", n, line)
				}
			}
		}
		_, after, found := strings.Cut(out, leaveScreen)
		if !found || !strings.Contains(after, "\n3  long") {
			t.Errorf("at the end %q", after)
		}
	})
}

// The terminal is restored after an error, too.
func TestWatchRestoresTheTerminalAfterAnError(t *testing.T) {
	t.Parallel()
	var stdout bytes.Buffer
	env := &Env{Stdout: &stdout, Now: time.Now, Zone: time.UTC, Getenv: func(string) string { return "" }, Terminal: func(io.Writer) int { return 80 }}
	w, gone := Watch(time.Second), errors.New("the database is gone")
	if err := w.Run(t.Context(), env, func() error { return gone }); !errors.Is(err, gone) || !strings.HasSuffix(stdout.String(), leaveScreen) {
		t.Errorf("%v, %q", err, stdout.String())
	}
}

func TestWatchRefusesIntervals(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0", "50ms", "soon", "-1s", "2"} {
		var w Watch
		if err := w.Set(text); err == nil {
			t.Errorf("%q is accepted as %s", text, time.Duration(w))
		}
	}
}
