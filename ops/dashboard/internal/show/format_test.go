package show

import "testing"

// People read a million at a glance.
func TestNumber(t *testing.T) {
	t.Parallel()
	for want, n := range map[string]int{"0": 0, "999": 999, "1,000": 1000, "-1,234": -1234, "-123": -123, "1,000,000": 1_000_000} {
		if got := Number(n); got != want {
			t.Errorf("%v is %q, want %q", n, got, want)
		}
	}
}
