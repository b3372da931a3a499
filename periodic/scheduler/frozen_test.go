package scheduler_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/network"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store"
)

// A process that stops while it is sent large args keeps its locks no longer than the server lets
// an idle transaction last.
func TestG5ProcessThatStopsInALargeAnswerKeepsNoLocks(t *testing.T) {
	f := newPostgresFixture(t)
	q := f.acme()
	f.addAcme("a", "allow")
	f.plan(q)
	f.exec("UPDATE periodic_task SET args = 'the args ' || repeat('x', 32 << 20) WHERE id = 'a'")
	f.due("a", time.Second)
	ctx, cancel := context.WithCancel(f.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() }) // once its connections are closed
	n := network.New(t, f.URL)
	n.StopAt("the args ")
	far, err := store.Open(f.Context(), n.URL, store.Options{IdleTimeout: time.Second})
	f.done(err)
	t.Cleanup(func() { _ = far.Close() })
	s, _ := f.make(far.Periodic(), withAcme(q))
	running.Go(func() { _ = s.RunOnce(ctx) })
	<-n.Silent
	locked := func() bool {
		return f.one("SELECT count(*) FROM (SELECT 1 FROM periodic_task FOR UPDATE SKIP LOCKED) AS t") == "0"
	}
	if !locked() {
		t.Fatal("the task was not locked")
	}
	storetest.Eventually(f, "its locks are gone", func() bool { return !locked() })
}
