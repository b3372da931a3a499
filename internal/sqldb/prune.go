package sqldb

import (
	"context"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/internal/service"
)

// PruneBatch is how many rows are deleted in one transaction.
const PruneBatch = 1000

// Prune are old rows to delete, page by page, each in a transaction of its own. Rows that cannot be deleted, because of a
// trigger, a foreign key or a lock, stay, and keep no others.
type Prune[K any] struct {
	What string         // the rows, such as "jobs"
	Name func(K) string // of one row, such as "job 01a1"
	// Page returns the next rows to delete, and whether others may follow them.
	Page func(ctx context.Context, tx *Tx) (keys []K, more bool, err error)
	// Delete deletes some of them, and returns how many.
	Delete func(ctx context.Context, tx *Tx, keys []K) (int64, error)
}

// Run returns how many rows it has deleted. The error is a [*KeptError] if rows stay, or one of the database, which
// ends it.
func (p Prune[K]) Run(ctx context.Context, db *DB) (deleted int, err error) {
	kept := KeptError{What: p.What}
	remove := func(keys []K) error {
		var n int64
		err := db.UpdateWithin(ctx, BatchLockWait, func(tx *Tx) (err error) {
			n, err = p.Delete(ctx, tx, keys)
			return err
		})
		if err == nil {
			deleted += int(n)
		}
		return err
	}
	alone := func(key K, err error) error {
		if fault := FaultOf(err); fault != service.FaultRow && fault != service.FaultLock {
			return err
		}
		kept.add(p.Name(key), err)
		return nil
	}
	for more := true; more; {
		var keys []K
		if err := db.View(ctx, func(tx *Tx) (err error) {
			keys, more, err = p.Page(ctx, tx)
			return err
		}); err != nil {
			return deleted, err
		}
		for len(keys) > 0 {
			cause := remove(keys)
			if cause == nil {
				break
			}
			if keys, err = service.InParts(ctx, keys, cause, remove, alone); err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return deleted, err
			}
		}
	}
	if kept.Count > 0 {
		return deleted, &kept
	}
	return deleted, nil
}

// KeptError says that rows could not be deleted. The others are.
type KeptError struct {
	What  string
	Count int
	Names []string // of the first
	Err   error    // of the first
}

// namedKept is how many rows a [KeptError] names.
const namedKept = 5

func (e *KeptError) add(name string, err error) {
	if e.Count++; len(e.Names) < namedKept {
		e.Names = append(e.Names, name)
	}
	if e.Err == nil {
		e.Err = err
	}
}

func (e *KeptError) Error() string {
	names := strings.Join(e.Names, ", ")
	if e.Count > len(e.Names) {
		names += ", ..."
	}
	return fmt.Sprintf("%s that cannot be deleted: %d (%s): %v; change the trigger or foreign key that refuses it (such as to ON DELETE CASCADE), "+
		"delete what refers to them, or end the transaction that has locked them", e.What, e.Count, names, e.Err)
}

// Unwrap returns why the first could not be deleted.
func (e *KeptError) Unwrap() error { return e.Err }
