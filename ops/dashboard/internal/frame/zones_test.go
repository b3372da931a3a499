package frame

import "testing"

// The zone of the server is that of TZ, as for other programs.
func TestServerZone(t *testing.T) {
	for tz, want := range map[string]string{"Europe/Paris": "Europe/Paris", ":Asia/Tokyo": "Asia/Tokyo"} {
		t.Setenv("TZ", tz)
		if got := serverZone(); got != want {
			t.Errorf("TZ=%s: %s", tz, got)
		}
	}
}
