package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/store"
)

// lockStates are rows of the lock "l" as a contender "me" may find them: who
// has it, and how long ago the heartbeat was and how long from now it expires.
var lockStates = []struct {
	name, holder       string
	heartbeat, expires time.Duration
	state              leader.State
}{
	{name: "no row", state: leader.Free},
	{"held by other", "other", -time.Second, 59 * time.Second, leader.Held},
	{"held by me", "me", -time.Second, 59 * time.Second, leader.Held},
	{"expired of other", "other", -2 * time.Minute, -time.Minute, leader.Expired},
	{"expired of me", "me", -2 * time.Minute, -time.Minute, leader.Expired},
	{"clock set back a little, other", "other", 20 * time.Second, 80 * time.Second, leader.Held},
	{"clock set back far, other", "other", time.Hour, time.Hour + time.Minute, leader.Expired},
}

// lockOutcomes tell, for each state and action of me, whether it succeeds and
// what the row says afterwards. All rows begin with token 7; me acts with it, and takes with 8.
var lockOutcomes = map[string]map[string]string{
	"no row": {
		"take": "true: me 8 held", "renew": "false:  0 free", "release": "false:  0 free", "guard": "false:  0 free",
	},
	"held by other": {
		"take": "false: other 7 held", "renew": "false: other 7 held", "release": "false: other 7 held",
		"guard": "false: other 7 held",
	},
	"held by me": {
		"take": "true: me 8 held", "renew": "true: me 7 held", "release": "true:  0 free", "guard": "true: me 7 held",
	},
	"expired of other": {
		"take": "true: me 8 held", "renew": "false: other 7 expired", "release": "false: other 7 expired",
		"guard": "false: other 7 expired",
	},
	"expired of me": { // nobody else can have had it
		"take": "true: me 8 held", "renew": "true: me 7 held", "release": "true:  0 free", "guard": "true: me 7 expired",
	},
	"clock set back a little, other": {
		"take": "false: other 7 held", "renew": "false: other 7 held", "release": "false: other 7 held",
		"guard": "false: other 7 held",
	},
	"clock set back far, other": {
		"take": "true: me 8 held", "renew": "false: other 7 expired", "release": "false: other 7 expired",
		"guard": "false: other 7 expired",
	},
}

func TestLockStatesAndActions(t *testing.T) {
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		locks := env.db.Periodic().Locks()
		for _, s := range lockStates {
			for action, want := range lockOutcomes[s.name] {
				name := s.name + ": " + action
				now := time.Now()
				if s.holder != "" {
					env.Exec(fmt.Sprintf(`INSERT INTO scheduler_lock VALUES ('%s', '%s', 'h', 1, 7, '%s', '%s', '%s')`,
						name, s.holder, sqldb.Timestamp(now.Add(-time.Hour)), sqldb.Timestamp(now.Add(s.heartbeat)), sqldb.Timestamp(now.Add(s.expires))))
				}
				if before := inspectLock(t, locks, name); before.State() != s.state {
					t.Errorf("%s: state before is %q, want %q", name, before.State(), s.state)
				}
				done := lockAction(t, env.db, action, name)
				l := inspectLock(t, locks, name)
				if got := fmt.Sprintf("%t: %s %d %s", done, l.Holder, l.Token, l.State()); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
		}
	})
}

// lockAction has me do something to a lock, with the token 7 where it needs one.
func lockAction(t *testing.T, db *store.DB, action, name string) bool {
	t.Helper()
	ctx, locks := t.Context(), db.Periodic().Locks()
	fence := leader.Fence{Lock: name, Holder: "me", Token: 7}
	var ok bool
	var err error
	switch action {
	case "take":
		l, failed := locks.Take(ctx, claimOf(name, "me", 8))
		ok, err = l.Token == 8, failed
	case "renew":
		ok, err = locks.Renew(ctx, fence, time.Minute)
	case "release":
		ok, err = locks.Release(ctx, fence)
	case "guard":
		err = db.Periodic().Update(ctx, time.Second, func(tx batch.Tx) error { return guard(ctx, db, tx, fence) })
		if ok = err == nil; errors.Is(err, leader.ErrLost) {
			err = nil
		}
	}
	if err != nil {
		t.Fatalf("%s: %s: %v", name, action, err)
	}
	return ok
}

func guard(ctx context.Context, db *store.DB, tx batch.Tx, f leader.Fence) error {
	return db.Periodic().Locks().Guard(ctx, tx.DBTX(), f)
}

func claimOf(lock, holder string, token int64) leader.Claim {
	return leader.Claim{Fence: leader.Fence{Lock: lock, Holder: holder, Token: token}, Hostname: "host", PID: 42, TTL: time.Minute}
}

func inspectLock(t *testing.T, locks leader.Store, name string) leader.Lock {
	t.Helper()
	l, err := locks.Inspect(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustTake(t *testing.T, locks leader.Store, c leader.Claim) leader.Lock {
	t.Helper()
	l, err := locks.Take(t.Context(), c)
	if err != nil || l.Fence() != c.Fence {
		t.Fatalf("take %q for %s: %+v, %v, want success", c.Lock, c.Holder, l, err)
	}
	return l
}

func TestLocksOfDifferentNamesAreIndependent(t *testing.T) {
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		locks := env.db.Periodic().Locks()
		mustTake(t, locks, claimOf("b", "me", 1))
		mustTake(t, locks, claimOf("a", "other", 2))
		list, err := env.db.Periodic().Locks().List(t.Context())
		if err != nil || len(list) != 2 || list[0].Holder != "other" || list[1].Holder != "me" {
			t.Errorf("List = %+v, %v, want a of other and b of me", list, err)
		}
	})
}

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
