package periodic_test

import (
	"testing"

	"github.com/nextrun/nextrun/periodic"
)

func TestWarnings(t *testing.T) {
	t.Parallel()
	for problem, want := range map[string]struct {
		text    string
		warning bool
	}{
		periodic.Warning("args is not JSON"): {"args is not JSON", true},
		"warning: it never elapses":          {"it never elapses", true}, // as a trigger writes it
		"bad timer: warning: no":             {"bad timer: warning: no", false},
		"":                                   {"", false},
	} {
		if text, warning := periodic.CutWarning(problem); text != want.text || warning != want.warning {
			t.Errorf("%q: %q, %t", problem, text, warning)
		}
	}
}
