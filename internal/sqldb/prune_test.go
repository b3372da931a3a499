package sqldb_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// Who stops while old rows are deleted waits for no more than the statement that is on its way.
func TestPruneEndsWithItsContext(t *testing.T) {
	t.Parallel()
	db := openTest(t, storetest.SQLiteURL(t), sqldb.Options{Create: true})
	ctx, stop := context.WithCancel(t.Context())
	old := sqldb.Prune[int]{
		What: "rows", Name: strconv.Itoa,
		Page: func(context.Context, *sqldb.Tx) ([]int, bool, error) { return []int{1, 2, 3}, true, nil },
		Delete: func(ctx context.Context, _ *sqldb.Tx, _ []int) (int64, error) {
			stop()
			return 0, ctx.Err()
		},
	}
	ended := make(chan error, 1)
	go func() {
		_, err := old.Run(ctx, db)
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v, want %v", err, context.Canceled)
		}
	case <-time.After(storetest.Patience):
		t.Fatal("it goes on for ever")
	}
}
