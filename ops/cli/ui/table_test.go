package ui

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

// sample is a list as long as those of the commands are.
func sample() *Table {
	t := NewTable("JOB", "TASK", "STATE", "RESULT").IDs("JOB").Least("TASK", "RESULT")
	t.Add("01a1ffd3-8ba5-730e-984f-ac1f7d7c102b", "weekly-report", "failed", "ls: cannot access '/no/such/path': No such file or directory")
	t.Add("01a1ffd3-8fe5-738d-883c-664b929c55ef", "日本語の仕事", "success", "")
	return t
}

func (t *Table) text(device Terminal) string {
	var b bytes.Buffer
	_ = t.write(&b, device) // a buffer takes everything
	return b.String()
}

// On a terminal no line is wider than it, down to the narrowest. Of ids the ends can be
// read, of other texts their beginnings.
func TestTableFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for width := 12; width <= 160; width++ {
		for line := range strings.Lines(sample().text(Terminal{Width: width})) {
			line = strings.TrimSuffix(line, "\n")
			if got := runewidth.StringWidth(line); got > width && !strings.HasPrefix(line, "(without ") {
				t.Fatalf("on %d columns a line has %d: %q", width, got, line)
			}
		}
	}
	got := sample().text(Terminal{Width: 84})
	for _, part := range []string{"…7d7c102b", "ls: cannot access", "weekly-report", "failed"} {
		if !strings.Contains(got, part) {
			t.Errorf("on 84 columns the table lacks %q:\n%s", part, got)
		}
	}
}

// A narrow terminal does without the least important columns and says so.
func TestTableLeavesColumnsOut(t *testing.T) {
	t.Parallel()
	got := sample().text(Terminal{Width: 44})
	if !strings.Contains(got, "(without TASK; --wide shows all)") || strings.Contains(got, "weekly-report") || !strings.Contains(got, "failed") {
		t.Errorf("on 44 columns\n%s", got)
	}
}

// What is no terminal gets everything, aligned, without colours.
func TestTableIsWhole(t *testing.T) {
	t.Parallel()
	want := "" +
		"JOB                                   TASK           STATE    RESULT\n" +
		"01a1ffd3-8ba5-730e-984f-ac1f7d7c102b  weekly-report  failed   ls: cannot access '/no/such/path': No such file or directory\n" +
		"01a1ffd3-8fe5-738d-883c-664b929c55ef  日本語の仕事   success  -\n"
	if got := sample().text(Terminal{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A cell of megabytes is written once, whole, and leaves the other rows as they are. On a
// terminal it is shortened.
func TestTableOfAVeryLongCell(t *testing.T) {
	t.Parallel()
	table, long := NewTable("NAME", "STATE"), strings.Repeat("ab", 1<<18)
	for range 100 {
		table.Add("short", "ok")
	}
	table.Add(long, "ok")
	if got := table.text(Terminal{}); !strings.Contains(got, long+"  ok\n") || len(got) > len(long)+200*columnMost {
		t.Errorf("%d bytes for one cell of %d", len(got), len(long))
	}
	if got := table.text(Terminal{Width: 40}); !strings.Contains(got, "abab…  ok") || len(got) > 100*100 {
		t.Errorf("on a terminal: %.200s", got)
	}
}

func TestTableColors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		noColor, term string
		width         int
		want          bool
	}{
		{"", "xterm", 80, true}, {"1", "xterm", 80, false}, {"", "dumb", 80, false}, {"", "xterm", 0, false},
	} {
		vars := map[string]string{"NO_COLOR": c.noColor, "TERM": c.term}
		var out bytes.Buffer
		env := &Env{Stdout: &out, Getenv: func(name string) string { return vars[name] }, Terminal: func(io.Writer) int { return c.width }}
		if err := env.PrintTable(sample(), nil, false); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "\x1b[31mfailed"); got != c.want {
			t.Errorf("%+v: colours %v", c, got)
		}
	}
}

// Sentences go on below themselves, and lose nothing.
func TestTableWrapsSentences(t *testing.T) {
	t.Parallel()
	table := NewTable("LEVEL", "FINDING").Wrap()
	table.Add("warning", "a sentence that is longer than the terminal is wide")
	table.Add("ok", "short")
	for width, want := range map[int]string{
		0:  "LEVEL    FINDING\nwarning  a sentence that is longer than the terminal is wide\nok       short\n",
		40: "LEVEL    FINDING\nwarning  a sentence that is longer than\n         the terminal is wide\nok       short\n",
	} {
		var b strings.Builder
		if err := table.write(&b, Terminal{Width: width}); err != nil || b.String() != want {
			t.Errorf("%d columns: %v\n%s\nwant\n%s", width, err, b.String(), want)
		}
	}
}

// Where ids do not fit, their ends are shown: those of one minute begin alike.
func TestTableShowsTheEndsOfIDs(t *testing.T) {
	t.Parallel()
	table := NewTable("JOB", "STATE").IDs("JOB")
	table.Add("01a205cd-0000-7000-8000-123456789abc", "failed")
	table.Add("short", "done")
	for width, want := range map[int]string{0: "01a205cd-0000-7000-8000-123456789abc  failed", 30: "…56789abc  failed", 60: "01a205cd-0000-7000-8000-123456789abc  failed"} {
		if got := table.text(Terminal{Width: width}); !strings.Contains(got, want) || !strings.Contains(got, "short") {
			t.Errorf("at %d columns:\n%s", width, got)
		}
	}
}
