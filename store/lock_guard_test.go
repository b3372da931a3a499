package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
)

// The paused leader: its transaction was guarded, then the process slept past
// the TTL. Its successor must not have the lock before that transaction has
// ended: with a plain read of the row both would commit.
func TestLockGuardKeepsSuccessorOutUntilCommit(t *testing.T) {
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		locks := env.db.Periodic().Locks()
		var held leader.Lock
		var committed, acquired time.Time
		successor := make(chan error, 1)
		paused := func(tx batch.Tx) error {
			if err := guard(t.Context(), env.db, tx, held.Fence()); err != nil {
				return err
			}
			go func() {
				var err error
				for ok := false; !ok && err == nil; {
					var l leader.Lock
					l, err = locks.Take(t.Context(), claimOf("l", "successor", 8))
					ok = l.Token == 8
				}
				acquired = time.Now()
				successor <- err
			}()
			waitUntil(t, held.Expires.Add(500*time.Millisecond))
			committed = time.Now()
			return addTask(t.Context(), tx.DBTX())
		}
		err := leader.ErrLost
		for tries := 0; errors.Is(err, leader.ErrLost) && tries < 20; tries++ { // the lock is held when the transaction begins
			held = mustTake(t, locks, leader.Claim{Fence: leader.Fence{Lock: "l", Holder: "paused", Token: 7}, TTL: time.Second})
			err = env.db.Periodic().Update(t.Context(), time.Second, paused)
		}
		if err != nil {
			t.Fatalf("the guarded transaction: %v", err)
		}
		if err := <-successor; err != nil {
			t.Fatal(err)
		}
		if acquired.Before(committed) {
			t.Error("the successor took over before the paused leader had committed")
		}
		if l := inspectLock(t, locks, "l"); l.Token != 8 || l.Holder != "successor" {
			t.Errorf("the lock is %+v, want the successor's with token 8", l)
		}
	})
}

// waitUntil lets a TTL pass: there is no signal for the database's clock.
func waitUntil(t *testing.T, at time.Time) {
	t.Helper()
	select {
	case <-time.After(time.Until(at)):
	case <-t.Context().Done():
	}
}

func addTask(ctx context.Context, tx jobqueue.DBTX) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO periodic_task (id, task, timer) VALUES ('t', 't', 'daily')`)
	return err
}
