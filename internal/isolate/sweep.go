package isolate

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const (
	// sweepBudget is how long a sweep looks for the culprits of one page.
	sweepBudget = 10 * time.Second
	// namedKept is how many rows a [KeptError] names.
	namedKept = 5
)

// Sweep deletes old rows page by page. Rows that cannot be deleted stay, and cost the
// others nothing.
type Sweep[K any] struct {
	What string         // the rows, such as "jobs"
	Name func(K) string // of one row, such as "job 01a1"
	// Page returns the next rows to delete, and whether others may follow them.
	Page func(ctx context.Context) (keys []K, more bool, err error)
	// Delete deletes some of them, completely or not at all.
	Delete func(ctx context.Context, keys []K) (int, error)
	// Judge says what an error of Delete means.
	Judge func(error) Cause
}

// Run returns how many rows it deleted. The error is a [*KeptError] if rows stay, or
// an error of the database, which ends the sweep.
func (s Sweep[K]) Run(ctx context.Context) (deleted int, err error) {
	try := func(ctx context.Context, keys []K, _ bool) error {
		n, err := s.Delete(ctx, keys)
		if err == nil {
			deleted += n
		}
		return err
	}
	kept := KeptError{What: s.What}
	for more := true; more; {
		var keys []K
		if keys, more, err = s.Page(ctx); err != nil {
			return deleted, err
		}
		if len(keys) == 0 {
			continue
		}
		if err = try(ctx, keys, false); err == nil {
			continue
		}
		found := Thorough(ctx, keys, err, Search[K]{Try: try, Judge: s.Judge, Budget: sweepBudget})
		if found.Err != nil && (s.Judge(found.Err) == Database || ctx.Err() != nil) {
			return deleted, found.Err
		}
		for _, c := range found.Culprits {
			kept.Add(s.Name(c.Item), c.Cause, c.Err)
		}
		for _, key := range found.Left {
			kept.Add(s.Name(key), s.Judge(found.Err), found.Err)
		}
	}
	if kept.Count > 0 {
		return deleted, &kept
	}
	return deleted, nil
}

// KeptError says that rows could not be deleted. The others are.
type KeptError struct {
	What   string
	Count  int
	Locked int      // how many of them somebody has locked
	Names  []string // of the first
	Err    error    // of the first
}

// Add counts one more row, and keeps the names of the first.
func (e *KeptError) Add(name string, cause Cause, err error) {
	if e.Count++; cause == Contended {
		e.Locked++
	}
	if len(e.Names) < namedKept {
		e.Names = append(e.Names, name)
	}
	if e.Err == nil {
		e.Err = err
	}
}

func (e *KeptError) Error() string {
	names, remedy := strings.Join(e.Names, ", "), "change the trigger or foreign key that refuses it (such as to ON DELETE CASCADE), or delete what refers to them"
	if e.Count > len(e.Names) {
		names += ", ..."
	}
	if e.Locked == e.Count {
		remedy = "end the transaction that holds the lock"
	}
	return fmt.Sprintf("%s that cannot be deleted: %d (%s): %v; %s", e.What, e.Count, names, e.Err, remedy)
}

// Unwrap returns why the first could not be deleted.
func (e *KeptError) Unwrap() error { return e.Err }
