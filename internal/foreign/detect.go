package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// freshness is how long the tables of a queue are taken to be as they were found. An
// upgrade of the other system is noticed then, or after the first error.
const freshness = time.Minute

// known is a shape as it was last found.
type known struct {
	mu    sync.Mutex
	shape *Shape
	at    time.Time
}

func (k *known) get() *Shape {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.at) > freshness {
		return nil
	}
	return k.shape
}

func (k *known) set(s *Shape) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shape, k.at = s, time.Now()
}

func (k *known) forget() { k.set(nil) }

// Shape returns the queue as its tables are, or an error that says why it cannot be
// used.
func (q *queue) shape(ctx context.Context, tx *sqldb.Tx) (*Shape, error) {
	if found := q.known.get(); found != nil {
		return found, nil
	}
	var r Inspection
	found, err := q.detect(ctx, tx, &r)
	if err == nil {
		err = r.err()
	}
	if err != nil {
		return nil, q.wrap(err)
	}
	q.known.set(found)
	return found, nil
}

// detect looks at the tables.
func (q *queue) detect(ctx context.Context, tx *sqldb.Tx, r *Inspection) (found *Shape, err error) {
	err = saved(ctx, tx, func() error {
		found, err = q.spec.Detect(ctx, tx, r)
		return err
	})
	return found, err
}

// with runs fn, which only adds to what it returns, inside a savepoint. If it fails
// because the tables are not as they were found, it looks at them again: it tries
// once more if the queue can be used, else the error says what it lacks.
func (q *queue) with(ctx context.Context, tx *sqldb.Tx, fn func(found *Shape, justLooked bool) error) error {
	found, err := q.shape(ctx, tx)
	if err != nil {
		return err
	}
	err = saved(ctx, tx, func() error { return fn(found, false) })
	if err == nil || !q.worthLooking(err) {
		return q.wrap(err)
	}
	return q.again(ctx, tx, err, fn)
}

// again is with after fn has failed with an error that may come from changed tables.
func (q *queue) again(ctx context.Context, tx *sqldb.Tx, cause error, fn func(found *Shape, justLooked bool) error) error {
	q.known.forget()
	found, err := q.shape(ctx, tx)
	if errors.Is(err, ErrUnusable) {
		return err
	}
	if err != nil { // the first error tells more
		return q.wrap(cause)
	}
	if err := saved(ctx, tx, func() error { return fn(found, true) }); err != nil {
		return q.wrap(err)
	}
	return nil
}

// worthLooking reports whether an error may come from tables that are not as they
// were found. Locks and broken connections do not.
func (q *queue) worthLooking(err error) bool {
	return !errors.Is(err, sqldb.ErrBusy) && !errors.Is(err, sqldb.ErrUnavailable) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// wrap keeps the error of a table or a column that does not exist from reading as if it
// were one of nextrun's. Callers name the queue.
func (q *queue) wrap(err error) error {
	if errors.Is(err, sqldb.ErrNoSchema) {
		return fmt.Errorf("%w: its tables are not as nextrun expects them: %s", ErrUnusable, q.db.Say(err).Message)
	}
	return err
}

// Inspect implements [Inspector].
func (q *queue) Inspect(ctx context.Context) (Report, error) {
	r := Inspection{Report{Kind: q.spec.Kind}}
	err := q.db.Update(ctx, func(tx *sqldb.Tx) error {
		found, err := q.detect(ctx, tx, &r)
		if err != nil || r.Unusable() {
			return err
		}
		q.known.set(found)
		if err = q.Probe(ctx, tx.DBTX()); err == nil && q.spec.Rehearse {
			err = q.rehearse(ctx, tx, found)
		}
		if err != nil {
			r.Problem("", "%v", err)
		}
		return nil
	})
	if found := q.known.get(); err == nil && found != nil && !r.Unusable() {
		err = q.inspectEnds(ctx, &r, found)
	}
	return r.Report, q.wrap(err)
}

// inspectEnds reports that the database does not tell how jobs ended. The queue takes jobs
// nevertheless.
func (q *queue) inspectEnds(ctx context.Context, r *Inspection, found *Shape) error {
	if found.Ends.Empty() || found.Part != nil {
		return nil
	}
	none, err := q.db.Records(1, OpenFields, 0, nil)
	if err != nil {
		return err
	}
	var seen Inspection
	err = q.db.View(ctx, func(tx *sqldb.Tx) error { return found.Ends.Check(ctx, tx, none, "outcome", &seen) })
	for _, p := range seen.Problems {
		r.Warn("", "how its jobs end cannot be read: %s", p.Text)
	}
	return err
}

// errTakeBack ends a rehearsal.
var errTakeBack = errors.New("take it back")

// rehearse runs the insert without a job, to see what it returns, and takes back
// what it did.
func (q *queue) rehearse(ctx context.Context, tx *sqldb.Tx, found *Shape) error {
	none, err := batch(q.db, found.Columns, nil)
	if err != nil {
		return err
	}
	err = saved(ctx, tx, func() error {
		rows, err := query(ctx, tx, found.Insert, "", none)
		if err == nil {
			_, err = (&submit{queue: q, shape: found}).accepted(nil, rows)
		}
		return cmp.Or(err, errTakeBack)
	})
	if errors.Is(err, errTakeBack) {
		return nil
	}
	return err
}
