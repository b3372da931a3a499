package ui

import (
	"bytes"
	"io"
	"testing"
)

// Sentences break between words, commands not at all.
func TestPrintProse(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	env := &Env{Stdout: &out, Getenv: func(string) string { return "" }, Terminal: func(io.Writer) int { return 40 }}
	for text, want := range map[string]string{
		"It is short.": "- It is short.\n",
		"Its job has been waiting for 1 min: no executor runs.":                   "- Its job has been waiting for 1 min: no\n  executor runs.\n",
		"to start it now, before its time: nextrun task set a-task --starts none": "- to start it now, before its time:\n  nextrun task set a-task --starts none\n",
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
	env.Flags.Wide = true
	out.Reset()
	if err := env.PrintProse("- ", "Its job has been waiting for 1 min: no executor runs."); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		t.Errorf("with --wide:\n%s", out.String())
	}
}
