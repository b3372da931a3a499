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

// A lane makes each kind once before one comes again, tells of what happened and what failed, and passes over what cannot happen now.
func TestLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		do := func(takes time.Duration, err error) fault.Do {
			return func(ctx context.Context, _ *rand.Rand, _ *fault.Fault) error {
				fault.Wait(ctx, takes)
				return err
			}
		}
		told := map[string]int{}
		l := &fault.Lane{
			Kinds: fault.Chosen([]fault.Kind{
				{Name: "short", Do: do(time.Second, nil)}, {Name: "broken", Do: do(0, errors.New("no way"))},
				{Name: "absent", Do: do(0, fault.ErrNotNow)}, {Name: "new", Do: do(0, nil), Asked: true},
			}, nil),
			Random: rand.New(rand.NewPCG(1, 2)),
			Ended: func(f fault.Fault) {
				if told[f.Kind+" "+f.End.Sub(f.Begin).String()+" "+f.Problem]++; len(told) == 2 && told["short 1s "] == 10 {
					cancel()
				}
			},
		}
		l.Run(ctx)
		if n := told["broken 0s no way"]; len(told) != 2 || n < 9 || n > 10 {
			t.Errorf("%v", told)
		}
	})
}
