// Package fault makes faults happen, one after the other.
package fault

import (
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"
)

// Fault is one that happened.
type Fault struct {
	Kind       string
	On         string
	Begin, End time.Time
	Problem    string // it could not be made, or only in part
}

// Do makes a fault and ends it. f has Begin and End set unless Do sets them itself.
type Do func(ctx context.Context, r *rand.Rand, f *Fault) error

// Kind is a kind of faults.
type Kind struct {
	Name  string
	Do    Do
	Asked bool // it happens only if somebody asks for it
}

// ErrNotNow is returned by a fault that has nothing to happen to.
var ErrNotNow = errors.New("not now")

// Chosen are the kinds whose names match; without an expression those that nobody has to ask for.
func Chosen(kinds []Kind, only *regexp.Regexp) []Kind {
	return slices.DeleteFunc(kinds, func(k Kind) bool {
		if only == nil {
			return k.Asked
		}
		return !only.MatchString(k.Name)
	})
}

// Run makes faults happen one after the other until the context ends: all kinds in a random order, then again in another. It calls
// ended with each when it has ended; the last one ends well.
func Run(ctx context.Context, r *rand.Rand, kinds []Kind, ended func(f Fault)) {
	for len(kinds) > 0 {
		for _, i := range r.Perm(len(kinds)) {
			Spell(ctx, r, 2*time.Second, 12*time.Second)
			if ctx.Err() != nil {
				return
			}
			f := Fault{Kind: kinds[i].Name, Begin: time.Now()}
			err := kinds[i].Do(ctx, r, &f)
			if errors.Is(err, ErrNotNow) {
				continue
			}
			if err != nil {
				f.Problem = err.Error()
			}
			if f.End.IsZero() {
				f.End = time.Now()
			}
			ended(f)
		}
	}
}

// Pick picks one of several values.
func Pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// Spell waits for a random time, or for the end of the run.
func Spell(ctx context.Context, r *rand.Rand, least, most time.Duration) {
	Wait(ctx, least+time.Duration(r.Int64N(int64(most-least))))
}

// Wait waits for a time, or for the end of the run.
func Wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
