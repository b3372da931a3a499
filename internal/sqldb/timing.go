package sqldb

import (
	"context"
	"fmt"
	"time"
)

// timing gives a transaction its now and its timeouts.
type timing struct {
	words   *Words
	options Options
}

// begin prepares a transaction and returns its now.
func (t timing) begin(ctx context.Context, tx DBTX, opening *Opening) (time.Time, error) {
	switch {
	case t.words.Begin == "":
		return t.now(time.Now()), nil
	case opening.Sent:
		return t.now(opening.Now), nil
	}
	var now time.Time
	var ignored string
	err := tx.QueryRowContext(ctx, opening.SQL).Scan(&now, &ignored)
	return t.now(now), err
}

// again asks for the time once more.
func (t timing) again(ctx context.Context, tx DBTX) (now time.Time, err error) {
	if now = time.Now(); t.words.Now != "" {
		err = tx.QueryRowContext(ctx, t.words.Now).Scan(&now)
	}
	return t.now(now), err
}

// join returns the now of a transaction of the caller's, whose timeouts stay.
func (t timing) join(ctx context.Context, outer DBTX) (now time.Time, schema string, err error) {
	if t.words.Now == "" {
		return t.now(time.Now()), t.options.Schema, nil
	}
	if err := outer.QueryRowContext(ctx, t.words.Now+", coalesce(current_schema(), '')").Scan(&now, &schema); err != nil {
		return now, "", fmt.Errorf("ask for the time: %w", err)
	}
	return t.now(now), schema, nil
}

// now is a time as transactions carry it, unless there is a clock that was set.
func (t timing) now(now time.Time) time.Time {
	if t.options.Clock != nil {
		now = t.options.Clock()
	}
	return now.UTC().Truncate(time.Microsecond)
}
