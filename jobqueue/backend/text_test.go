package backend

import "testing"

func TestShortenCutsBetweenCharacters(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short", "short"}, {"abcdefghij", "abcdefghij"}, {"abcdefghijk", "abcdefg…"}, {"abcdefühijk", "abcdef…"},
	} {
		if got := shorten(c.text, 10); got != c.want {
			t.Errorf("shorten(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}
