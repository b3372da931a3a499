package fault

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Lane makes faults happen one after the other: all kinds in a random order, then again in another.
type Lane struct {
	Kinds  []Kind
	Pause  func(r *rand.Rand) time.Duration // before each
	Random *rand.Rand
	Ended  func(f Fault) // called with each fault when it has ended
}

// Run runs until the context ends; a fault that has begun ends well.
func (l *Lane) Run(ctx context.Context) {
	for len(l.Kinds) > 0 {
		for _, i := range l.Random.Perm(len(l.Kinds)) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(l.Pause(l.Random)):
			}
			f := Fault{Kind: l.Kinds[i].Name, Begin: time.Now()}
			err := l.Kinds[i].Do(ctx, l.Random, &f)
			if errors.Is(err, ErrNotNow) {
				continue
			}
			if err != nil {
				f.Error = err.Error()
			}
			if f.End.IsZero() {
				f.End = time.Now()
			}
			l.Ended(f)
		}
	}
}
