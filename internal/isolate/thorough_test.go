package isolate_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
)

func thorough(t *testing.T, tb *table, n int) isolate.Found[int] {
	err := tb.try(t.Context(), rows(n), false)
	return isolate.Thorough(t.Context(), rows(n), err, isolate.Search[int]{Try: tb.try, Judge: judge})
}

// Rows that fail alike, more in a row than Bisect tries, do not stop the rest.
func TestThoroughGoesOnBehindManyRows(t *testing.T) {
	for _, good := range [][]int{nil, {0}, {120}, {0, 60, 199}} {
		tb := &table{bad: map[int]error{}}
		var bad []int
		for i := range 200 {
			if !slices.Contains(good, i) {
				tb.bad[i] = errors.New("no")
				bad = append(bad, i)
			}
		}
		found := thorough(t, tb, 200)
		got := culprits(found)
		slices.Sort(got)
		slices.Sort(tb.done)
		if !slices.Equal(got, bad) || !slices.Equal(tb.done, good) || found.Err != nil || len(found.Left) > 0 {
			t.Errorf("done %v, want %v; %d culprits, %d left, %v", tb.done, good, len(got), len(found.Left), found.Err)
		}
	}
}

func TestThoroughEndsWithTheDatabaseOrTheBudget(t *testing.T) {
	tb := &table{bad: map[int]error{3: errors.New("no"), 9: errBroken}}
	if found := thorough(t, tb, 16); !errors.Is(found.Err, errBroken) || len(found.Left) == 0 {
		t.Errorf("found %+v", found)
	}
	synctest.Test(t, func(t *testing.T) {
		tb := &table{bad: map[int]error{}, cost: time.Second}
		for i := range 200 {
			tb.bad[i] = errors.New("no")
		}
		begun := time.Now()
		if found := thorough(t, tb, 200); len(found.Left) == 0 || time.Since(begun) > isolate.DefaultBudget+2*time.Second {
			t.Errorf("%d left after %s", len(found.Left), time.Since(begun))
		}
	})
}
