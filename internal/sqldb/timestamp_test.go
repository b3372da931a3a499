package sqldb

import (
	"testing"
	"time"
)

// A time is written in UTC with microseconds, whatever its zone, and read back
// as the same instant.
func TestTimestampBothWays(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for want, at := range map[string]time.Time{
		"2026-07-01 12:30:05.123456": time.Date(2026, 7, 1, 14, 30, 5, 123456789, berlin),
		"1970-01-01 00:00:00.000000": time.Unix(0, 0),
		"9999-12-31 23:59:59.000000": time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		"2026-10-25 00:30:00.000000": time.Unix(1792888200, 0).In(berlin), // 02:30, the first time
		"2026-10-25 01:30:00.000000": time.Unix(1792891800, 0).In(berlin), // 02:30, the second time
		"0001-01-01 00:00:00.000001": time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC),
	} {
		value, err := Timestamp(at).Value()
		if err != nil || value != want {
			t.Errorf("%s is written as %v, %v, want %s", at, value, err, want)
		}
		for _, src := range []any{value, []byte(want), at.UTC().Truncate(time.Microsecond)} {
			var back Timestamp
			if err := back.Scan(src); err != nil || !back.Time().Equal(at.Truncate(time.Microsecond)) || back.Time().Location() != time.UTC {
				t.Errorf("%T %v is read as %s, %v, want %s", src, src, back.Time(), err, at)
			}
		}
	}
}

func TestTimestampReads(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2026-07-01 12:30:05":          time.Date(2026, 7, 1, 12, 30, 5, 0, time.UTC),
		"2026-07-01 12:30:05.5":        time.Date(2026, 7, 1, 12, 30, 5, 5e8, time.UTC),
		"2026-07-01T12:30:05Z":         time.Date(2026, 7, 1, 12, 30, 5, 0, time.UTC),
		"2026-07-01T14:30:05.25+02:00": time.Date(2026, 7, 1, 12, 30, 5, 25e7, time.UTC),
		"infinity":                     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		"-infinity":                    time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC),
	} {
		var got Timestamp
		if err := got.Scan(text); err != nil || !got.Time().Equal(want) {
			t.Errorf("%q is read as %s, %v, want %s", text, got.Time(), err, want)
		}
	}
	for year, want := range map[int]time.Time{294276: lastTime, 10000: lastTime, 9999: time.Date(9999, 3, 1, 0, 0, 0, 0, time.UTC), 0: firstTime, -43: firstTime} {
		var got RowTime
		if err := got.Scan(time.Date(year, 3, 1, 0, 0, 0, 0, time.UTC)); err != nil || !got.Time().Equal(want) {
			t.Errorf("the year %d is read as %s, %v, want %s", year, got.Time(), err, want)
		}
		if text, err := got.Time().MarshalJSON(); err != nil {
			t.Errorf("the year %d as JSON: %s, %v", year, text, err)
		}
	}
	for _, bad := range []any{"", "now", "2026-02-31 00:00:00", "2026-07-01", "12:30", int64(5), 1.5, true} {
		var got Timestamp
		if err := got.Scan(bad); err == nil {
			t.Errorf("%v is read as %s", bad, got.Time())
		}
		row := RowTime{Timestamp(time.Unix(1, 0))}
		if err := row.Scan(bad); err != nil || !row.Time().IsZero() {
			t.Errorf("in a row %v is read as %s, %v, want NULL", bad, row.Time(), err)
		}
	}
}

func FuzzTimestamp(f *testing.F) {
	f.Add("2026-07-01 12:30:05.123456", int64(0))
	f.Add("infinity", int64(1782909005123456))
	f.Add("2026-07-01T14:30:05.25+02:00", int64(-1))
	f.Fuzz(func(t *testing.T, text string, micros int64) {
		var read Timestamp
		if err := read.Scan(text); err == nil && !read.Time().IsZero() && read.Time().Year() > 0 {
			again := roundTrip(t, read)
			if want := read.Time().Truncate(time.Microsecond); !again.Time().Equal(want) {
				t.Errorf("%q is %s, and read again %s", text, want, again.Time())
			}
		}
		const last = 253402300799999999 // 9999-12-31
		if micros < 0 || micros > last {
			return
		}
		at := Timestamp(time.UnixMicro(micros))
		if again := roundTrip(t, at); !again.Time().Equal(at.Time()) {
			t.Errorf("%s comes back as %s", at.Time(), again.Time())
		}
		if next := Timestamp(time.UnixMicro(micros + 1)); micros < last && at.String() >= next.String() {
			t.Errorf("as texts %s is not before %s", at, next)
		}
	})
}

func roundTrip(t *testing.T, at Timestamp) Timestamp {
	t.Helper()
	var back Timestamp
	value, err := at.Value()
	if err == nil {
		err = back.Scan(value)
	}
	if err != nil {
		t.Fatalf("%s: %v", at.Time(), err)
	}
	return back
}
