package periodic

import (
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

func TestDecideLimitsCatchup(t *testing.T) {
	p := situation{due: -10 * 600, catchup: CatchupAll, overlap: OverlapAllow}.decide(t)
	if len(p.Ticks) != maxCatchup {
		t.Errorf("%d ticks in one batch", len(p.Ticks))
	}
	if want := minute(-10 * 500); !p.Due.Equal(want) || !p.NextRun.Equal(want) {
		t.Errorf("goes on at %s and not with the next tick, %s", p.Due, want)
	}
}

// Of very many recorded ticks the oldest are known: the plan goes that far, and
// the next batch goes on from there.
func TestDecideLimitsLookBack(t *testing.T) {
	s := situation{due: -10 * 5 * MaxDecided, hand: true, overlap: OverlapAllow}
	for m := range MaxDecided {
		at := float64(-10 * (4*MaxDecided - m))
		s.decided = append(s.decided, [2]float64{at, at})
	}
	want := fmt.Sprintf("-50000 submitted, -49990 missed %d until -40010, next -30000", MaxDecided-1)
	if got := s.decide(t).text(); got != want {
		t.Errorf("\n got  %s\n want %s", got, want)
	}
}

// A batch of many tasks takes fewer ticks of each.
func TestDecideLimitsTheBatch(t *testing.T) {
	timer, err := calendar.Parse("*:0/10")
	if err != nil {
		t.Fatal(err)
	}
	task := &Task{ID: "task", Due: minute(-1000), NextRun: minute(-1000), Timer: "*:0/10", Catchup: CatchupAll, Overlap: OverlapAllow}
	p := task.Decide(timer, Facts{Now: noon, Most: 20}, func(time.Time) string { return "new" })
	if len(p.Ticks) != 20 || !p.Due.Equal(minute(-800)) {
		t.Errorf("%d ticks, next due %s", len(p.Ticks), p.Due)
	}
}
