package calendar

import (
	"strings"
	"testing"
	"time"
)

func TestNever(t *testing.T) {
	s := mustParse(t, Never)
	if next, prev := s.Next(time.Time{}), s.Prev(time.Now()); !next.IsZero() || !prev.IsZero() || s.String() != Never {
		t.Errorf("%v elapses next at %v, and did last at %v", s, next, prev)
	}
	for _, wrong := range []string{"nevr", "Never"} {
		if _, err := Parse(wrong); err == nil || !strings.Contains(err.Error(), `did you mean "never"?`) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
