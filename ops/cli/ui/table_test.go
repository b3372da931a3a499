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

// On a terminal no line is wider than it, down to the narrowest. Of ids the ends can be read, since those of one minute begin alike,
// of other texts their beginnings; a narrow one does without the least important columns and says so.
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
	for width, parts := range map[int][]string{
		84: {"…7d7c102b", "ls: cannot access", "weekly-report", "failed"},
		44: {"(without TASK; --wide shows all)", "failed"},
	} {
		for _, part := range parts {
			if got := sample().text(Terminal{Width: width}); !strings.Contains(got, part) {
				t.Errorf("on %d columns the table lacks %q:\n%s", width, part, got)
			}
		}
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

// A cell of megabytes is shortened; --json has it whole.
func TestTableOfAVeryLongCell(t *testing.T) {
	t.Parallel()
	table := NewTable("NAME", "STATE")
	table.Add("short", "ok")
	table.Add(strings.Repeat("ab", 1<<18), "ok")
	if got := table.text(Terminal{}); !strings.Contains(got, "abab... (--json shows all)  ok\n") || len(got) > 4000 {
		t.Errorf("%.2000s", got)
	}
	if got := table.text(Terminal{Width: 40}); !strings.Contains(got, "abab…  ok") || len(got) > 200 {
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

// Sentences go on below themselves, break between words and lose nothing; commands do not break.
func TestSentencesFitTheTerminal(t *testing.T) {
	t.Parallel()
	table := NewTable("LEVEL", "FINDING").Wrap()
	table.Add("warning", "a sentence that is longer than the terminal is wide")
	want := "LEVEL    FINDING\nwarning  a sentence that is longer than\n         the terminal is wide\n"
	if got := table.text(Terminal{Width: 40}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var out bytes.Buffer
	env := &Env{Stdout: &out, Getenv: func(string) string { return "" }, Terminal: func(io.Writer) int { return 40 }}
	for text, want := range map[string]string{
		"Its job has been waiting for 1 min: no executor runs.":                   "- Its job has been waiting for 1 min: no\n  executor runs.\n",
		"to start it now, before its time: nextrun task set a-task --starts none": "- to start it now, before its time:\n  nextrun task set a-task --starts none\n",
		"It is paused: moving\n- All is well.":                                    "- It is paused: moving - All is well.\n",
		"nextrun job limit group a-group-with-a-name 3":                           "- nextrun job limit group a-group-with-a-name 3\n",
	} {
		out.Reset()
		if err := env.PrintProse("- ", text); err != nil || out.String() != want {
			t.Errorf("%q (%v), want %q", out.String(), err, want)
		}
	}
	out.Reset()
	if err := env.PrintFields([][2]string{{"job", "1"}, {"why", "It has been waiting for 1 min: no executor runs."}}); err != nil ||
		out.String() != "job  1\nwhy  It has been waiting for 1 min: no\n     executor runs.\n" {
		t.Errorf("fields:\n%s", out.String())
	}
}
