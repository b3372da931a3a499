package show

import "testing"

// People read a million at a glance.
func TestNumber(t *testing.T) {
	t.Parallel()
	for want, n := range map[string]any{"0": 0, "999": 999, "1,000": 1000, "-1,234": -1234, "-123": -123, "1,000,000": 1_000_000, "12,346": 12345.6, "7": int64(7)} {
		if got := Number(n); got != want {
			t.Errorf("%v is %q, want %q", n, got, want)
		}
	}
}
