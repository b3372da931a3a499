package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/store"
)

// lockStates are rows of the lock "l" as a contender "me" may find them: who
// has it, and how long ago the heartbeat was and how long from now it expires.
var lockStates = []struct {
	name, holder       string
	heartbeat, expires time.Duration
	released           bool
	state              leader.State
}{
	{name: "no row", state: leader.Never},
	{"held by other", "other", -time.Second, 59 * time.Second, false, leader.Held},
	{"held by me", "me", -time.Second, 59 * time.Second, false, leader.Held},
	{"expired of other", "other", -2 * time.Minute, -time.Minute, false, leader.Expired},
	{"expired of me", "me", -2 * time.Minute, -time.Minute, false, leader.Expired},
	{"released by other", "other", -time.Second, 0, true, leader.Free},
	{"released by me", "me", -time.Second, 0, true, leader.Free},
	{"clock set back a little, other", "other", 20 * time.Second, 80 * time.Second, false, leader.Held},
	{"clock set back far, other", "other", time.Hour, time.Hour + time.Minute, false, leader.Expired},
}

// lockOutcomes tell, for each state and action of me, whether it succeeds and
// what the row says afterwards. All rows begin with token 7; me acts with it.
var lockOutcomes = map[string]map[string]string{
	"no row": {
		"acquire": "true: me 1 held", "renew": "false:  0 never held", "release": "false:  0 never held",
		"guard": "false:  0 never held",
	},
	"held by other": {
		"acquire": "false: other 7 held", "renew": "false: other 7 held", "release": "false: other 7 held",
		"guard": "false: other 7 held",
	},
	"held by me": {
		"acquire": "true: me 7 held", "renew": "true: me 7 held", "release": "true: me 7 released",
		"guard": "true: me 7 held",
	},
	"expired of other": {
		"acquire": "true: me 8 held", "renew": "false: other 7 expired", "release": "false: other 7 expired",
		"guard": "false: other 7 expired",
	},
	"expired of me": {
		"acquire": "true: me 8 held", "renew": "false: me 7 expired", "release": "true: me 7 released",
		"guard": "false: me 7 expired",
	},
	"released by other": {
		"acquire": "true: me 8 held", "renew": "false: other 7 released", "release": "false: other 7 released",
		"guard": "false: other 7 released",
	},
	"released by me": {
		"acquire": "true: me 8 held", "renew": "false: me 7 released", "release": "true: me 7 released",
		"guard": "false: me 7 released",
	},
	"clock set back a little, other": {
		"acquire": "false: other 7 held", "renew": "false: other 7 held", "release": "false: other 7 held",
		"guard": "false: other 7 held",
	},
	"clock set back far, other": {
		"acquire": "true: me 8 held", "renew": "false: other 7 expired", "release": "false: other 7 expired",
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
					expires := now.Add(s.expires)
					if s.released {
						expires = leader.Released
					}
					env.Exec(fmt.Sprintf(`INSERT INTO scheduler_lock VALUES ('%s', '%s', 'h', 1, 7, '%s', '%s', '%s')`,
						name, s.holder, sqldb.Timestamp(now.Add(-time.Hour)), sqldb.Timestamp(now.Add(s.heartbeat)), sqldb.Timestamp(expires)))
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
	case "acquire":
		_, ok, err = locks.Acquire(ctx, claimOf(name, "me"))
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
	return db.Periodic().Locks().Guard(ctx, tx.DBTX(), tx.Now(), f)
}

func claimOf(lock, holder string) leader.Claim {
	return leader.Claim{Lock: lock, Holder: holder, Hostname: "host", PID: 42, TTL: time.Minute}
}

func inspectLock(t *testing.T, locks leader.Store, name string) leader.Lock {
	t.Helper()
	l, err := locks.Inspect(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustAcquire(t *testing.T, locks leader.Store, c leader.Claim) leader.Lock {
	t.Helper()
	l, ok, err := locks.Acquire(t.Context(), c)
	if err != nil || !ok {
		t.Fatalf("acquire %q for %s: %v, %v, want success", c.Lock, c.Holder, ok, err)
	}
	return l
}

func TestLocksOfDifferentNamesAreIndependent(t *testing.T) {
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		locks := env.db.Periodic().Locks()
		mustAcquire(t, locks, claimOf("b", "me"))
		mustAcquire(t, locks, claimOf("a", "other"))
		list, err := env.db.Periodic().Locks().List(t.Context())
		if err != nil || len(list) != 2 || list[0].Holder != "other" || list[1].Holder != "me" {
			t.Errorf("ListLocks = %+v, %v, want a of other and b of me", list, err)
		}
	})
}

// An error is not an answer: the caller must not take it for the lock.
// A new term's token is greater than any that the claim knows of: the row may
// have been deleted, or come from a backup.
func TestLockTokenRisesAboveWhatTheClaimKnows(t *testing.T) {
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		locks := env.db.Periodic().Locks()
		for after, want := range map[int64]int64{0: 1, 41: 42, 1 << 40: 1<<40 + 1} {
			c := claimOf(fmt.Sprintf("new-%d", after), "a")
			c.TokenAfter = after
			if l := mustAcquire(t, locks, c); l.Token != want {
				t.Errorf("a new row after token %d: %d, want %d", after, l.Token, want)
			}
		}
		old := mustAcquire(t, locks, claimOf("old", "a"))
		if ok, err := locks.Release(t.Context(), old.Fence()); !ok || err != nil {
			t.Fatal(ok, err)
		}
		c := claimOf("old", "b")
		c.TokenAfter = 7
		if l := mustAcquire(t, locks, c); l.Token != 8 {
			t.Errorf("a released row of token 1 after 7: %d, want 8", l.Token)
		}
		c.TokenAfter = 100
		if l := mustAcquire(t, locks, c); l.Token != 8 {
			t.Errorf("the holder's own row: %d, want the term's token 8", l.Token)
		}
	})
}
