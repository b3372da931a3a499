package periodic_test

import (
	"testing"

	"github.com/nextrun/nextrun/periodic/reasons"
)

func TestWarnings(t *testing.T) {
	t.Parallel()
	for problem, want := range map[string]struct {
		text    string
		warning bool
	}{
		reasons.Warning("args is not JSON"): {"args is not JSON", true},
		"warning: it never elapses":         {"it never elapses", true}, // as a trigger writes it
		"bad timer: warning: no":            {"bad timer: warning: no", false},
		"":                                  {"", false},
	} {
		if text, warning := reasons.CutWarning(problem); text != want.text || warning != want.warning {
			t.Errorf("%q: %q, %t", problem, text, warning)
		}
	}
}
