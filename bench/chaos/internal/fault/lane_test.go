package fault_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// A lane makes each kind once before one comes again, tells of what happened and what failed, and lets the last fault end.
func TestLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var told []fault.Fault
		l := &fault.Lane{
			Kinds: []fault.Kind{
				{Name: "short", Do: func(ctx context.Context, _ *rand.Rand, _ *fault.Fault) error {
					fault.Wait(ctx, time.Second)
					return nil
				}},
				{Name: "broken", Do: func(context.Context, *rand.Rand, *fault.Fault) error { return errors.New("no way") }},
				{Name: "absent", Do: func(context.Context, *rand.Rand, *fault.Fault) error { return fault.ErrNotNow }},
			},
			Pause:  func(*rand.Rand) time.Duration { return time.Second },
			Random: rand.New(rand.NewPCG(1, 2)),
			Ended: func(f fault.Fault) {
				if told = append(told, f); len(told) == 20 {
					cancel()
				}
			},
		}
		l.Run(ctx)
		times := map[string]int{}
		for _, f := range told {
			times[f.Kind]++
			want := fault.Fault{Kind: f.Kind, Begin: f.Begin, End: f.Begin.Add(time.Second)}
			if f.Kind == "broken" {
				want.End, want.Error = f.Begin, "no way"
			}
			if f != want {
				t.Errorf("%+v, want %+v", f, want)
			}
		}
		if times["short"] != 10 || times["broken"] != 10 {
			t.Errorf("%v", times)
		}
	})
}
