package isolate

import (
	"context"
	"time"
)

// Thorough is [Bisect] for work that has time: it goes on behind rows that fail one
// after the other, and blames rows also when all fail alike. It leaves items only
// once an error of the database, the end of ctx or the budget stops it.
func Thorough[T any](ctx context.Context, items []T, err error, s Search[T]) Found[T] {
	if s.Budget == 0 {
		s.Budget = DefaultBudget
	}
	end := time.Now().Add(s.Budget)
	var found Found[T]
	for left := items; ; {
		b := &bisection[T]{Search: s, ctx: ctx, end: end}
		b.failed(left, err)
		found.Culprits = append(found.Culprits, b.found.Culprits...)
		found.Left, found.Err = b.found.Left, b.found.Err
		more := len(found.Left) > 0 && s.Judge(found.Err) != Database && ctx.Err() == nil && time.Now().Before(end)
		if !more {
			return found
		}
		left, err = found.Left, found.Err
	}
}
