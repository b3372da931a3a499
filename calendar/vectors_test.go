package calendar

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"
)

// vector is a row of a table in testdata/calendar.
type vector struct {
	timer, normal string // normal is "!" when the timer is to be refused
	base          time.Time
	elapses       []string // in RFC 3339; "never" at the end
}

func readVectors(t testing.TB, name string) (list []vector) {
	t.Helper()
	f, err := os.Open("../testdata/calendar/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		row := strings.Split(lines.Text(), "\t")
		if len(row) < 3 {
			t.Fatalf("%s: a row has %d columns: %q", name, len(row), row)
		}
		base, err := time.Parse(time.RFC3339, row[1])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list = append(list, vector{row[0], row[2], base, row[3:]})
	}
	if len(list) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return list
}

// following returns the next n elapses as the tables have them, with "never" at the end.
func following(s Schedule, at time.Time, n int) (list []string) {
	for range n {
		if at = s.Next(at); at.IsZero() {
			return append(list, "never")
		}
		list = append(list, at.Format(time.RFC3339))
	}
	return list
}

// forgotten are the vectors in which systemd 252 loses elapses: when a repetition has run past the
// end of the last hour of a day, or the last day of a year, the search goes on from where the
// repetition would have been (systemd issue 40260, since mended there). The elapses that it does
// find must be there all the same.
var forgotten = map[string]string{
	"*-*-05/22,27,08":        "2032-01-05T00:00:00Z",
	"*-01/24 04/13:58":       "2032-01-01T04:58:00Z",
	"*-*-* 22..23/1,00:7/34": "2019-01-23T00:07:00Z",
	"*-*-05/21":              "2024-01-05T00:00:00Z",
}

func TestVectors(t *testing.T) {
	for _, name := range []string{"systemd.tsv", "systemd-more.tsv", "dst.tsv", "calev.tsv"} {
		t.Run(name, func(t *testing.T) {
			for _, v := range readVectors(t, name) {
				v.check(t)
			}
		})
	}
}

func (v vector) check(t *testing.T) {
	s, err := Parse(v.timer)
	if (err != nil) != (v.normal == "!") {
		t.Errorf("Parse(%q) = %v, want %q", v.timer, err, v.normal)
	}
	if err != nil {
		return
	}
	if s.String() != v.normal {
		t.Errorf("Parse(%q).String() = %q, want %q", v.timer, s, v.normal)
	}
	if err := sameSchedule(s, v.base); err != nil {
		t.Errorf("%q: %v", v.timer, err)
	}
	want := strings.Join(v.elapses, " ")
	got := strings.Join(following(s, v.base, len(v.elapses)), " ")
	if lost := forgotten[v.timer]; lost != "" {
		if !strings.Contains(got, lost) {
			t.Errorf("%q after %v: %s does not elapse", v.timer, v.base, lost)
		}
		got = strings.Join(following(s, v.base, 20), " ")
		for _, at := range v.elapses {
			if !strings.Contains(got, at) {
				t.Errorf("%q after %v: %s does not elapse", v.timer, v.base, at)
			}
		}
		return
	}
	if got != want {
		t.Errorf("%q after %v:\n got %s\nwant %s", v.timer, v.base, got, want)
	}
	at := s.Next(v.base)
	for range len(v.elapses) - 1 { // and back
		next := s.Next(at)
		if prev := s.Prev(next); !next.IsZero() && !prev.Equal(at) {
			t.Errorf("%q before %v: %v, want %v", v.timer, next, prev, at)
		}
		at = next
	}
}

func TestSlipsOfSystemdAreNotRepeated(t *testing.T) {
	for _, c := range []struct{ timer, after, want string }{
		// the hour that occurs twice is the last one of the only day
		{"2018-02-17 *:30 America/Sao_Paulo", "2018-02-18T00:00:00Z", "2018-02-18T00:30:00Z 2018-02-18T01:30:00Z 2018-02-18T02:30:00Z never"},
		{"*:00/7", "2026-05-04T23:56:00Z", "2026-05-05T00:00:00Z 2026-05-05T00:07:00Z"},
		{"00/5:00", "2026-05-31T20:00:00Z", "2026-06-01T00:00:00Z 2026-06-01T05:00:00Z"},
		{"*-*-01/4", "2026-12-29T00:00:00Z", "2027-01-01T00:00:00Z 2027-01-05T00:00:00Z"},
		{"*-06~4,8,23", "2026-05-04T00:00:00Z", "2026-06-08T00:00:00Z 2026-06-23T00:00:00Z 2026-06-27T00:00:00Z"},
	} {
		want := strings.Fields(c.want)
		if got := following(mustParse(t, c.timer), instantText(t, c.after), len(want)); strings.Join(got, " ") != c.want {
			t.Errorf("%q after %s: %s, want %s", c.timer, c.after, got, want)
		}
	}
}
