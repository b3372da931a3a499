package text_test

import (
	"os/exec"
	"testing"

	"github.com/nextrun/nextrun/internal/text"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"twelve bytes":   "twelve bytes",
		"thirteen bytes": "thirteen …",
		"12345678ä12":    "12345678ä12", // 12 bytes
		"12345678ä123":   "12345678…",   // not half of an ä
		"a\x00b\xffc":    "a\uFFFDb\uFFFDc",
	} {
		got := text.Clean(given, 12)
		if got != want || !text.Valid(got) || len(got) > 12 {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
	if text.Valid("a\x00b") || text.Valid("a\xff") || !text.Valid("ä") {
		t.Error("Valid is wrong about NUL, a stray byte or ä")
	}
}

// What somebody else has named means nothing to the shell of those who copy a command with it.
func TestWordsOfCommands(t *testing.T) {
	t.Parallel()
	for _, plain := range []string{"nightly-backup", "a.b/c_1:2@3", "größe"} {
		if got := text.Word(plain); got != plain {
			t.Errorf("%s became %s", plain, got)
		}
	}
	for _, name := range []string{"", "a b", "x; echo y", "$(echo y)", "`echo y`", `it's "$HOME"`, "a\nb", "*", "~", "#", "!!", `\`, "a&b", "x=y"} {
		if out, err := exec.Command("sh", "-c", "printf %s "+text.Word(name)).Output(); err != nil || string(out) != name {
			t.Errorf("%q: a shell makes %q of it, %v", name, out, err)
		}
	}
}
