package text_test

import (
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
