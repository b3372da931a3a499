package relay_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/verify"
)

// The receiver of this test fails at random, sometimes after it has taken the
// event, and is down for a while.
func TestNoEventIsLost(t *testing.T) {
	both(t, func(f *fixture) {
		r := newReceiver()
		want := f.append(append(events("a", 60), events("b", 60)...)...)

		r.set(func(r *receiver) { r.failing, r.lying = 0.2, 0.5 })
		for _, name := range []string{"one", "two"} {
			f.relay(r.publisher(), f.quick(name))
		}
		r.await(f, len(want)/2)
		r.set(func(r *receiver) { r.down = true })
		want = append(want, f.append(events("a", 20)...)...)
		f.awaitOne("1", `SELECT CASE WHEN max(attempts) >= 4 THEN 1 ELSE 0 END FROM outbox_message WHERE published IS NULL`)
		r.set(func(r *receiver) { r.down = false })
		r.await(f, len(want))
		f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL`)
		r.check(f, want)
		if r.repetitions() == 0 {
			f.Error("no event came twice, though the receiver took some that it said it had not")
		}
		migrated.Verify(f, f.db, verify.Options{})
	})
}

// awaitOne waits until a query returns a value.
func (f *fixture) awaitOne(want, query string) {
	f.Helper()
	storetest.Eventually(f, query+" is "+want, func() bool { return f.One(query) == want })
}
