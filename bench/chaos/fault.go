//go:build linux

package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// fault is one that happened.
type fault struct {
	kind, on   string
	begin, end time.Time
	problem    string // it could not be made, or only in part
}

// do makes a fault and ends it, or panics by must.Nil. f has begin and end set unless do sets them itself.
type do func(ctx context.Context, r *rand.Rand, f *fault)

// kind is a kind of faults. Its name begins with its group and a colon.
type kind struct {
	name string
	do   do
}

// errNotNow is the panic of a fault that has nothing to happen to.
var errNotNow = errors.New("not now")

// makeFaults makes faults happen one after the other until the context ends: all kinds in a random order, then again in another. It
// calls ended with each when it has ended; the last one ends well.
func makeFaults(ctx context.Context, r *rand.Rand, kinds []kind, ended func(f fault)) {
	for len(kinds) > 0 {
		for _, i := range r.Perm(len(kinds)) {
			spell(ctx, r, 2*time.Second, 12*time.Second)
			if ctx.Err() != nil {
				return
			}
			f := fault{kind: kinds[i].name, begin: time.Now()}
			err := must.Try(func() { kinds[i].do(ctx, r, &f) })
			if f.end.IsZero() {
				f.end = time.Now()
			}
			if err != nil {
				f.problem = err.Error()
			}
			if !errors.Is(err, errNotNow) {
				ended(f)
			}
		}
	}
}

// pick picks one of several values.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// spell waits for a random time, or for the end of the run.
func spell(ctx context.Context, r *rand.Rand, least, most time.Duration) {
	wait(ctx, least+time.Duration(r.Int64N(int64(most-least))))
}

// wait waits for a time, or for the end of the run.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
