package isolate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
)

var (
	errLocked = errors.New("locked")
	errBroken = errors.New("connection lost")
)

func judge(err error) isolate.Cause {
	switch {
	case errors.Is(err, errLocked):
		return isolate.Contended
	case errors.Is(err, errBroken):
		return isolate.Database
	}
	return isolate.Row
}

// table is a database in which some rows fail.
type table struct {
	bad   map[int]error
	cost  time.Duration // of a try that fails
	tries int
	brief int // tries with a short wait for locks
	done  []int
}

func (tb *table) try(_ context.Context, items []int, brief bool) error {
	tb.tries++
	if brief {
		tb.brief++
	}
	for _, i := range items {
		if err := tb.bad[i]; err != nil {
			time.Sleep(tb.cost) //nolint:forbidigo // in a bubble of synctest it takes no time
			return err
		}
	}
	tb.done = append(tb.done, items...)
	return nil
}

func rows(n int) []int {
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	return items
}

func bisect(ctx context.Context, tb *table, n int) isolate.Found[int] {
	err := tb.try(ctx, rows(n), false)
	return isolate.Bisect(ctx, rows(n), err, isolate.Search[int]{Try: tb.try, Judge: judge})
}

func culprits(f isolate.Found[int]) (items []int) {
	for _, c := range f.Culprits {
		items = append(items, c.Item)
	}
	return items
}

func TestCulpritsAreFoundAndTheOthersDone(t *testing.T) {
	for _, bad := range [][]int{{0}, {199}, {7, 8}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 50, 51, 120, 198}} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			tb := &table{bad: map[int]error{}}
			for _, i := range bad {
				tb.bad[i] = fmt.Errorf("row %d is refused", i)
			}
			found := bisect(t.Context(), tb, 200)
			if got := culprits(found); !slices.Equal(got, bad) || found.Err != nil || len(found.Left) > 0 {
				t.Errorf("culprits %v, left %v, %v", got, found.Left, found.Err)
			}
			if slices.Sort(tb.done); len(slices.Compact(tb.done)) != 200-len(bad) || len(tb.done) != 200-len(bad) {
				t.Errorf("%d rows were done", len(tb.done))
			}
			if most := 2 + 16*len(bad); tb.tries > most {
				t.Errorf("%d tries for %d culprits, expected at most %d", tb.tries, len(bad), most)
			}
		})
	}
}

func TestLocksAreAwaitedBrieflyAfterTheFirst(t *testing.T) {
	tb := &table{bad: map[int]error{5: errLocked, 6: errLocked}}
	found := bisect(t.Context(), tb, 64)
	if !slices.Equal(culprits(found), []int{5, 6}) || found.Culprits[0].Cause != isolate.Contended {
		t.Errorf("found %+v", found)
	}
	if tb.brief != tb.tries-1 {
		t.Errorf("%d of %d tries were brief, all but the first should be", tb.brief, tb.tries)
	}
}

func TestTableThatIsLockedLeavesTheRest(t *testing.T) {
	tb := &table{bad: map[int]error{}}
	for i := range 500 {
		tb.bad[i] = errLocked
	}
	found := bisect(t.Context(), tb, 500)
	if len(found.Culprits) > 0 || len(found.Left) != 500 || !errors.Is(found.Err, errLocked) {
		t.Errorf("%d culprits, %d left: %v", len(found.Culprits), len(found.Left), found.Err)
	}
	if tb.tries > 40 {
		t.Errorf("%d tries", tb.tries)
	}
}

func TestSeveralThatFailAlikeAreNotToBlame(t *testing.T) {
	tb := &table{bad: map[int]error{0: errors.New("no"), 1: errors.New("no"), 2: errors.New("no")}}
	if found := bisect(t.Context(), tb, 3); len(found.Culprits) > 0 || len(found.Left) != 3 || found.Err == nil {
		t.Errorf("all failed for the same reason: %+v", found)
	}
	tb = &table{bad: map[int]error{0: errors.New("no")}}
	if found := bisect(t.Context(), tb, 1); len(found.Culprits) != 1 {
		t.Errorf("a batch of one: %+v", found)
	}
}

func TestErrorOfTheDatabaseEndsTheSearch(t *testing.T) {
	tb := &table{bad: map[int]error{3: errors.New("refused"), 9: errBroken}}
	found := bisect(t.Context(), tb, 16)
	if !slices.Equal(culprits(found), []int{3}) || !errors.Is(found.Err, errBroken) {
		t.Errorf("found %+v", found)
	}
	all := slices.Concat(tb.done, culprits(found), found.Left)
	if slices.Sort(all); !slices.Equal(all, rows(16)) {
		t.Errorf("rows are missing: done %v, found %+v", tb.done, found)
	}
}

func TestBudgetAndContextEndTheSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{bad: map[int]error{}, cost: time.Second}
		for i := range 15 {
			tb.bad[i*10] = fmt.Errorf("row %d", i)
		}
		begun := time.Now()
		found := bisect(t.Context(), tb, 200)
		if took := time.Since(begun); took > isolate.DefaultBudget+2*time.Second || len(found.Left) == 0 {
			t.Errorf("took %v, %d left", took, len(found.Left))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		tb.tries = 0
		if found := bisect(ctx, tb, 200); len(found.Left) != 200 || tb.tries != 1 {
			t.Errorf("%d left and %d tries after the end of the context", len(found.Left), tb.tries)
		}
	})
}

func TestAsideTriesEverMoreRarely(t *testing.T) {
	q := isolate.Aside[string, string]{Paces: map[string]isolate.Pace{"refused": {Least: time.Second, Most: 5 * time.Second}, "locked": {Least: time.Minute, Most: time.Hour}}}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if !q.Add("a", "refused", now) {
		t.Error("the first failure was not reported as the first")
	}
	for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second} {
		if got := q.Next().Sub(now); got != want {
			t.Errorf("next try after %v, want %v", got, want)
		}
		if early := q.Due(q.Next().Add(-1)); len(early) > 0 {
			t.Errorf("due too early: %v", early)
		}
		now = q.Next()
		if due := q.Due(now); !slices.Equal(due, []string{"a"}) {
			t.Errorf("due %v", due)
		}
		if q.Add("a", "refused", now) {
			t.Error("reported twice")
		}
	}
	if q.Has("a", "locked") || q.Add("a", "locked", now) || q.Next().Sub(now) != time.Minute || len(q.Keys("refused")) > 0 {
		t.Error("another reason does not begin with its least delay")
	}
	if q.Name("b") || !q.Name("a") || q.Name("a") {
		t.Error("not named once")
	}
	held, named := q.Release("a")
	again, _ := q.Release("a")
	if !held || !named || q.Has("a") || !q.Next().IsZero() || again {
		t.Error("not released")
	}
}

func TestAsideHurries(t *testing.T) {
	q := isolate.Aside[string, int]{Paces: map[int]isolate.Pace{0: {Least: time.Minute, Most: time.Hour}}}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	q.Add("old", 0, now.Add(-30*time.Second))
	q.Add("new", 0, now.Add(-time.Second/2))
	q.Hurry(now, time.Second)
	if due := q.Due(now); !slices.Equal(due, []string{"old"}) {
		t.Errorf("due at once: %v", due)
	}
	if due := q.Due(now.Add(time.Second / 2)); !slices.Equal(due, []string{"old", "new"}) {
		t.Errorf("due after the gap: %v", due)
	}
	if got := q.Keys(); !slices.Equal(got, []string{"new", "old"}) {
		t.Errorf("keys %v", got)
	}
}
