package service

import "context"

// Fault says what to blame for an error of a database.
type Fault int

// The faults.
const (
	FaultUnknown  Fault = iota // the cause is unknown: tried again
	FaultRow                   // the database refuses a row, or cannot read it
	FaultLock                  // somebody else holds a lock for longer than we wait
	FaultDatabase              // the database is out of reach or busy, or the work was interrupted: tried again
)

const (
	// smallPart is how many items of a batch that has failed are tried together.
	smallPart = 50
	// mostInARow is how many items may fail one after the other. Then the cause may lie elsewhere.
	mostInARow = 20
)

// InParts does for parts of a batch what failed for all of it with cause: for 50 items at a time, and one by one where
// that fails. It tells alone of each item that fails alone, whose error ends it. Left are the items that were not tried:
// ctx or alone ended it, or 20 items have failed one after the other.
func InParts[T any](ctx context.Context, batch []T, cause error, do func([]T) error, alone func(T, error) error) (left []T, err error) {
	if len(batch) == 1 {
		return nil, alone(batch[0], cause)
	}
	left, inARow := batch, 0
	for len(left) > 0 && ctx.Err() == nil {
		part := left[:min(smallPart, len(left))]
		if len(part) < len(batch) && do(part) == nil {
			left, inARow = left[len(part):], 0
			continue
		}
		for i := range part {
			left = left[1:]
			if err = do(part[i : i+1]); err == nil {
				inARow = 0
				continue
			}
			inARow++
			if err = alone(part[i], err); err != nil || inARow == mostInARow {
				return left, err
			}
		}
	}
	return left, nil
}
