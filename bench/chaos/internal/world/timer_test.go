package world_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/world"
)

func TestTimersAreReadAsTheyAreWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	t0 := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	later := t0.Add(time.Second / 2)
	for range 1000 {
		every := []int64{1, 10, 20, 30, 60, 120}[r.IntN(6)]
		want := world.Timer{Every: every, Phase: r.Int64N(every)}
		text := want.Text(r)
		got, err := world.ParseTimer(text)
		if err != nil || got != want {
			t.Fatalf("%q is %v, %v, want %v", text, got, err, want)
		}
		if first := got.From(later); !got.Has(first) || !first.After(t0) || first.Sub(later) > time.Duration(every)*time.Second {
			t.Fatalf("the first tick of %q after %s is %s", text, later, first)
		}
	}
}
