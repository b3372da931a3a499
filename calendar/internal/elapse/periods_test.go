package elapse

import (
	"strings"
	"testing"
	"time"
)

// TestPeriods compares the tabulated offsets of zones with those of package time.
func TestPeriods(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "Asia/Gaza",
		"America/Santiago", "Africa/Monrovia", "Asia/Tehran", "Europe/Dublin", "Antarctica/Troll", "Asia/Tokyo"} {
		z, err := ZoneNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		checkPeriods(t, z, 0)
	}
	// Changes on the last day of the year and the first one are a trial for package time.
	location := ruledLocation(t, "AAA0BBB,J1/0,J365/12")
	checkPeriods(t, &Zone{Name: "new year", Location: location, periods: periodsOf(location)}, Instant(2*Day))
}

func checkPeriods(t *testing.T, z *Zone, from Instant) {
	t.Helper()
	for at := from; at < Instant(LastWall); at += Instant(5*Hour + 7*Minute) {
		if got, want := z.periods[z.index(at)].offset, offsetAt(z.Location, at); got != want {
			t.Fatalf("%s at %v: offset %d, want %d", z.Name, at.Time(), got/Second, want/Second)
		}
	}
	for _, p := range z.periods[max(z.index(from), 1):] {
		if offsetAt(z.Location, p.start) == offsetAt(z.Location, p.start-1) {
			t.Errorf("%s: nothing changes at %v", z.Name, p.start.Time())
		}
	}
}

// ruledLocation makes a location that follows a rule of POSIX from the beginning of time (RFC
// 8536).
func ruledLocation(t *testing.T, rule string) *time.Location {
	t.Helper()
	header := "TZif2" + strings.Repeat("\x00", 15+4*4) + "\x00\x00\x00\x01" + "\x00\x00\x00\x04"
	block := "\x00\x00\x00\x00\x00\x00AAA\x00" // one type of local time, and its name
	location, err := time.LoadLocationFromTZData("test", []byte(header+block+header+block+"\n"+rule+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return location
}
