package traceparent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/traceparent"
)

const valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestClean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		valid:                               valid,
		valid[:53] + "03":                   valid[:53] + "03",
		"01" + valid[2:]:                    "",
		"":                                  "",
		"none":                              "",
		valid + "-01":                       "",
		valid + " ":                         "",
		" " + valid:                         "",
		valid[:54]:                          "",
		strings.ToUpper(valid):              "",
		strings.ReplaceAll(valid, "-", "_"): "",
		"00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01":                 "",
		"00-0af7651916cd43dd8448eb211c80319c-" + strings.Repeat("0", 16) + "-01": "",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333\n-01":               "",
		strings.Repeat("\x00", 55):                                               "",
		strings.Repeat("ä", 27) + "a":                                            "",
	} {
		if got := traceparent.Clean(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add(valid)
	f.Fuzz(func(t *testing.T, text string) {
		got := traceparent.Clean(text)
		if got != "" && (len(got) != len(valid) || got[:3] != "00-" || got != text) {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func TestContext(t *testing.T) {
	t.Parallel()
	ctx := traceparent.With(context.Background(), valid)
	if got := traceparent.Of(traceparent.With(ctx, "none")); got != valid {
		t.Errorf("%q, want what was there", got)
	}
	if got := traceparent.Of(context.Background()); got != "" {
		t.Errorf("%q, want none", got)
	}
}
