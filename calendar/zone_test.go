package calendar

import (
	"strings"
	"testing"
	"time"
)

func TestZoneNames(t *testing.T) {
	for _, name := range []string{"UTC", "utc", "Etc/UTC", "GMT", "EST5EDT", "Etc/GMT+5", "America/Port-au-Prince",
		"America/Argentina/ComodRivadavia", "Europe/Isle_of_Man"} {
		if _, err := Parse("daily " + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"Local", "localtime", "posixrules", "posix/UTC", "right/UTC", "/etc/localtime",
		"Europe/../UTC", "../UTC", "Europe/", "Europe//Berlin", "Europe", "europe/berlin", "Europe/Berlin\x00", "C:\\UTC",
		strings.Repeat("A", 200)} {
		for _, timer := range []string{"daily " + name, "TZ=" + name + " @daily", "every 1 day " + name} {
			if s, err := Parse(timer); err == nil {
				t.Errorf("Parse(%q) = %v, want an error", timer, s)
			}
		}
	}
}

func TestLocation(t *testing.T) {
	for timer, want := range map[string]string{
		"daily": "UTC", "daily utc": "UTC", "daily Asia/Tokyo": "Asia/Tokyo", "TZ=Asia/Tokyo @daily": "Asia/Tokyo",
		"daily Z": "UTC", "daily +0200": "+02:00",
		"every 1 day Asia/Tokyo": "Asia/Tokyo", "every 1 day": "UTC",
	} {
		if got := Location(mustParse(t, timer)); got.String() != want {
			t.Errorf("Location of %q: %v, want %s", timer, got, want)
		}
	}
	if got := Location(foreign{}); got != time.UTC {
		t.Errorf("Location of a schedule of another package: %v, want UTC", got)
	}
}

// foreign is a schedule that another package has made. It elapses every second.
type foreign struct{}

func (foreign) Next(after time.Time) time.Time  { return after.Truncate(time.Second).Add(time.Second) }
func (foreign) Prev(before time.Time) time.Time { return before.Add(-1).Truncate(time.Second) }
func (foreign) String() string                  { return "always" }
