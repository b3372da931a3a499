package isolate

import (
	"context"
	"time"
)

// Cause says what an error means for the rows of a batch.
type Cause int

const (
	// Database means that the error does not come from a row, or that nobody knows.
	// Everything is tried again later; no row is blamed.
	Database Cause = iota
	// Row means that the database refuses a row.
	Row
	// Contended means that somebody else holds a lock for longer than we wait.
	Contended
)

// DefaultBudget is how long [Bisect] looks for culprits unless Search says
// otherwise.
const DefaultBudget = 2 * time.Second

// MaxInARow is the number of single rows that may fail one after the other, with
// none done in between. After that the fault lies with the table, not with its
// rows.
const MaxInARow = 16

// Search says how to find the culprits of a batch.
type Search[T any] struct {
	// Try does the work for some of the items, completely or not at all. If
	// brief is true, somebody holds a lock in this batch: wait for locks for a
	// few milliseconds only.
	Try func(ctx context.Context, items []T, brief bool) error
	// Judge says what an error of Try means.
	Judge func(error) Cause
	// Budget bounds the search; 0 means [DefaultBudget].
	Budget time.Duration
}

// Culprit is an item that failed alone.
type Culprit[T any] struct {
	Item  T
	Cause Cause // Row or Contended
	Err   error
}

// Found is what became of the items of a batch. Those that it does not name are
// done.
type Found[T any] struct {
	Culprits []Culprit[T]
	// Left are the items that are neither done nor to blame: the budget was
	// used up, ctx ended, or Err concerns them all.
	Left []T
	// Err is why there are items left. It is nil if there are none.
	Err error
}

// Bisect does the work for a batch that has failed with err: it tries ever
// smaller parts of it, until only those items are left that fail alone. It
// blames no item when the fault lies with all of them: when several failed, none
// was done, and all errors read the same, the items are left.
//
// A part that fails with an error of the database ends the search. So does the
// end of ctx.
func Bisect[T any](ctx context.Context, items []T, err error, s Search[T]) Found[T] {
	if s.Budget == 0 {
		s.Budget = DefaultBudget
	}
	b := &bisection[T]{Search: s, ctx: ctx, end: time.Now().Add(s.Budget)}
	b.failed(items, err)
	if b.allAlike() {
		left := make([]T, 0, len(items))
		for _, c := range b.found.Culprits {
			left = append(left, c.Item)
		}
		b.found = Found[T]{Left: append(left, b.found.Left...), Err: b.found.Culprits[0].Err}
	}
	return b.found
}

type bisection[T any] struct {
	Search[T]

	ctx   context.Context
	end   time.Time
	brief bool // somebody holds a lock
	done  int  // parts that succeeded
	inRow int  // single items that failed since the last success
	found Found[T]
}

// failed deals with items that failed together.
func (b *bisection[T]) failed(items []T, err error) {
	cause := b.Judge(err)
	b.brief = b.brief || cause == Contended
	switch {
	case cause == Database || b.stopped():
		b.leave(items, err)
	case len(items) == 1:
		b.inRow++
		b.found.Culprits = append(b.found.Culprits, Culprit[T]{items[0], cause, err})
	default:
		half := len(items) / 2
		first := b.try(items[:half], err)
		if first && len(items)-half > 1 && b.found.Err == nil { // the culprit is in the other half: do not try all of it
			b.failed(items[half:], err)
			return
		}
		b.try(items[half:], err)
	}
}

// try does the work for some items, and reports whether that succeeded at once.
// cause is the error of the batch that they belong to.
func (b *bisection[T]) try(items []T, cause error) bool {
	if b.stopped() {
		b.leave(items, cause)
		return false
	}
	if err := b.Try(b.ctx, items, b.brief); err != nil {
		b.failed(items, err)
		return false
	}
	b.done++
	b.inRow = 0
	return true
}

func (b *bisection[T]) stopped() bool {
	return b.found.Err != nil || b.ctx.Err() != nil || b.inRow >= MaxInARow || !time.Now().Before(b.end)
}

func (b *bisection[T]) leave(items []T, err error) {
	b.found.Left = append(b.found.Left, items...)
	if b.found.Err == nil {
		b.found.Err = err
	}
}

// allAlike reports whether several items failed, all for the same reason, and
// none was done.
func (b *bisection[T]) allAlike() bool {
	c := b.found.Culprits
	if b.done > 0 || len(c) < 2 {
		return false
	}
	for _, other := range c[1:] {
		if other.Err.Error() != c[0].Err.Error() {
			return false
		}
	}
	return true
}
