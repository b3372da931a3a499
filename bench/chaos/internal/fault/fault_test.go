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

// Each kind happens once before one comes again, and what cannot happen now is passed over.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		do := func(takes time.Duration, err error) fault.Do {
			return func(ctx context.Context, _ *rand.Rand, _ *fault.Fault) error {
				fault.Wait(ctx, takes)
				return err
			}
		}
		told := map[string]int{}
		fault.Run(ctx, rand.New(rand.NewPCG(1, 2)), fault.Chosen([]fault.Kind{
			{Name: "short", Do: do(time.Second, nil)}, {Name: "broken", Do: do(0, errors.New("no way"))},
			{Name: "absent", Do: do(0, fault.ErrNotNow)}, {Name: "new", Do: do(0, nil), Asked: true},
		}, nil), func(f fault.Fault) {
			if told[f.Kind+" "+f.End.Sub(f.Begin).String()+" "+f.Problem]++; len(told) == 2 && told["short 1s "] == 10 {
				cancel()
			}
		})
		if n := told["broken 0s no way"]; len(told) != 2 || n < 9 || n > 10 {
			t.Errorf("%v", told)
		}
	})
}
