package migrations

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/migrations/internal/partition"
)

// partitioner changes how periodic_tick is stored.
type partitioner struct{ db *sql.DB }

// convert turns the table into one of a width, unless another process has been faster.
func (p partitioner) convert(ctx context.Context, width Width) error {
	return p.exclusively(ctx, conversionWait, conversionTries, func(tx *sql.Tx) error {
		state, err := partition.Look(ctx, tx)
		if err != nil || state.Partitioned == (width != "") {
			return err
		}
		return partition.Convert(ctx, tx, width)
	})
}

func (p partitioner) make(ctx context.Context, width Width, tries int) (done []Applied, err error) {
	for {
		var name string
		missing, err := partition.Missing(ctx, p.db, width)
		if err != nil || missing == nil {
			return done, err
		}
		err = p.exclusively(ctx, keepWait, tries, func(tx *sql.Tx) (err error) {
			name, err = partition.Make(ctx, tx, width)
			return err
		})
		if err != nil {
			return done, err
		}
		if name != "" {
			done = append(done, Applied{Name: "partition " + name})
		}
	}
}

// exclusively runs a transaction that has periodic_tick for itself. Others wait for it
// meanwhile, so it waits only briefly for the table, several times.
func (p partitioner) exclusively(ctx context.Context, wait time.Duration, tries int, do func(*sql.Tx) error) error {
	for try := 1; ; try++ {
		err := p.alone(ctx, wait, do)
		if !held(err) {
			return err
		}
		if try == tries {
			return fmt.Errorf("others use periodic_tick all the time; try again, or look for a long transaction in pg_stat_activity: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(conversionPause):
		}
	}
}

// held reports whether others have what a transaction wants.
func held(err error) bool {
	state := sqlState(err)
	return state == "55P03" || state == "40P01"
}

func (p partitioner) alone(ctx context.Context, wait time.Duration, do func(*sql.Tx) error) error {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing to undo after a commit
	// The rows of a large table take their time.
	for _, s := range []string{
		"SET LOCAL statement_timeout = 0", "SET LOCAL idle_in_transaction_session_timeout = 0",
		fmt.Sprintf("SET LOCAL lock_timeout = %d", wait.Milliseconds()),
		fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", lockID), // others who migrate take turns
		"LOCK TABLE " + partition.Table + " IN ACCESS EXCLUSIVE MODE",
	} {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("lock %s: %w", partition.Table, err)
		}
	}
	if err := do(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
