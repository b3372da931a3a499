package explore_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/explore"
)

// jugs are the jugs of three and of five litres that shall measure four.
type jugs struct{ three, five, goal int }

func (j jugs) Key() (key [16]byte) {
	binary.LittleEndian.PutUint64(key[:], uint64(j.three))
	binary.LittleEndian.PutUint64(key[8:], uint64(j.five))
	return key
}

func (j jugs) Broken() string {
	if j.five == j.goal {
		return fmt.Sprintf("%d litres", j.goal)
	}
	return ""
}

func (j jugs) Actions() []explore.Action[jugs] {
	to5, to3 := min(j.three, 5-j.five), min(j.five, 3-j.three)
	list := []explore.Action[jugs]{}
	add := func(name string, next jugs) {
		list = append(list, explore.Action[jugs]{Name: name, Next: func() jugs { return next }})
	}
	add("fill 3", jugs{3, j.five, j.goal})
	add("fill 5", jugs{j.three, 5, j.goal})
	add("empty 3", jugs{0, j.five, j.goal})
	add("empty 5", jugs{j.three, 0, j.goal})
	add("3 into 5", jugs{j.three - to5, j.five + to5, j.goal})
	add("5 into 3", jugs{j.three + to3, j.five - to3, j.goal})
	return list
}

func TestAllFindsTheShortestWay(t *testing.T) {
	r := explore.All(jugs{goal: 4}, explore.Bounds{})
	want := []string{"fill 5", "5 into 3", "empty 3", "5 into 3", "fill 5", "5 into 3"}
	if !slices.Equal(r.Trace, want) || r.Broken != "4 litres" {
		t.Errorf("%s", &r)
	}
}

func TestAllVisitsEachStateOnce(t *testing.T) {
	r := explore.All(jugs{goal: 9}, explore.Bounds{})
	if r.States != 16 || !r.Complete || r.Broken != "" {
		t.Errorf("%s; want 16 states and no 9 litres", &r)
	}
	if r = explore.All(jugs{goal: 9}, explore.Bounds{Depth: 2}); r.Depth != 2 || r.States >= 16 {
		t.Errorf("to a depth of 2: %s", &r)
	}
}

func TestRandomShortensWhatItFinds(t *testing.T) {
	r := explore.Random(jugs{goal: 4}, 1, explore.Bounds{Depth: 100, States: 100_000})
	if r.Broken == "" || len(r.Trace) > 12 {
		t.Errorf("%s", &r)
	}
	again := explore.Random(jugs{goal: 4}, 1, explore.Bounds{Depth: 100, States: 100_000})
	if !slices.Equal(r.Trace, again.Trace) {
		t.Errorf("the same seed found\n%s", &again)
	}
}
