package fault

import (
	"context"
	"math/rand/v2"
	"time"
)

// Between is a random time.
func Between(least, most time.Duration) func(r *rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration { return least + time.Duration(r.Int64N(int64(most-least))) }
}

// Pick picks one of several values.
func Pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// Wait waits for a time, or for the end of the run.
func Wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
