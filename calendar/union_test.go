package calendar

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// Several timers elapse when one of them does, once at a time.
func TestUnionElapsesWithEachOfItsTimers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	events := readVectors(t, "systemd.tsv")
	checked := 0
	for checked < 500 {
		timers := []string{randomTimer(r, events), randomTimer(r, events), "daily"}
		s, err := Parse(strings.Join(timers, " ; "))
		if err != nil {
			continue
		}
		checked++
		at := randomTime(r)
		var want []time.Time
		for _, timer := range timers {
			one, err := Parse(timer)
			if err != nil {
				t.Fatal(err)
			}
			for next, n := one.Next(at), 0; !next.IsZero() && n < 10; next, n = one.Next(next), n+1 {
				want = append(want, next)
			}
		}
		slices.SortFunc(want, time.Time.Compare)
		want = slices.Compact(want)
		for i, last := 0, at; i < min(10, len(want)); i++ {
			if last = s.Next(last); !last.Equal(want[i]) {
				t.Fatalf("%q: elapse %d after %v is %v, want %v", s, i, at, last, want[i])
			}
		}
	}
}

func TestUnionHasANormalForm(t *testing.T) {
	for timer, want := range map[string]string{
		"Mon 9:00;daily Europe/Berlin":         "Mon *-*-* 09:00:00; *-*-* 00:00:00 Europe/Berlin",
		" 0  2 * * *  ; @hourly":               "0 2 * * *; 0 * * * *",
		strings.Repeat("daily;", 40) + "daily": strings.Repeat("daily;", 40) + "daily", // the normal form is too long
	} {
		s, err := Parse(timer)
		if err != nil || s.String() != want {
			t.Errorf("%q is %q, %v", timer, s, err)
		}
	}
	if s, _ := Parse("daily Asia/Tokyo; weekly"); Location(s).String() != "Asia/Tokyo" {
		t.Errorf("the zone is %v", Location(s))
	}
}
