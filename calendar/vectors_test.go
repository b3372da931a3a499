package calendar

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"
)

// vectors reads a table of testdata/calendar: timer, base, normal form, elapses.
func vectors(t *testing.T, name string) (rows [][]string) {
	t.Helper()
	f, err := os.Open("../testdata/calendar/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if row := strings.Split(lines.Text(), "\t"); len(row) >= 3 {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return rows
}

// elapses returns up to n elapses as the tables print them.
func elapses(s Schedule, at time.Time, n int) []string {
	var list []string
	for range n {
		if at = s.Next(at); at.IsZero() {
			return append(list, "never")
		}
		list = append(list, at.Format(time.RFC3339))
	}
	return list
}

func TestVectors(t *testing.T) {
	for _, name := range []string{"systemd.tsv", "dst.tsv"} {
		for _, row := range vectors(t, name) {
			timer, normal, want := row[0], row[2], row[3:]
			base, err := time.Parse(time.RFC3339, row[1])
			if err != nil {
				t.Fatal(err)
			}
			s, err := Parse(timer)
			if err != nil {
				if normal != "!" {
					t.Errorf("%s: Parse(%q) = %v, want %q", name, timer, err, normal)
				}
				continue
			}
			if s.String() != normal {
				t.Errorf("%s: Parse(%q).String() = %q, want %q", name, timer, s, normal)
			}
			if got := elapses(s, base, len(want)); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s: %q after %s:\n got %s\nwant %s", name, timer, row[1], got, want)
			}
		}
	}
}
