package scheduler_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store"
)

// freezing returns the database's URL for a process that stops as soon as it has received a mark:
// it keeps its connections, and reads nothing more.
func freezing(t *testing.T, databaseURL, mark string) (address string, frozen chan struct{}) {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	server := u.Host
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	frozen = make(chan struct{}, 100)
	pass := func(client, database net.Conn) {
		t.Cleanup(func() { _, _ = client.Close(), database.Close() })
		go func() { _, _ = io.Copy(database, client) }()
		buffer := make([]byte, 8<<10)
		for {
			n, err := database.Read(buffer)
			if bytes.Contains(buffer[:n], []byte(mark)) {
				frozen <- struct{}{}
				return
			}
			if _, late := client.Write(buffer[:n]); err != nil || late != nil {
				_ = client.Close()
				return
			}
		}
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			if database, err := net.Dial("tcp", server); err == nil {
				go pass(client, database)
			}
		}
	}()
	u.Host = l.Addr().String()
	return u.String(), frozen
}

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
	address, frozen := freezing(t, f.URL, "the args ")
	far, err := store.Open(f.Context(), address, store.Options{IdleTimeout: time.Second})
	f.done(err)
	t.Cleanup(func() { _ = far.Close() })
	s, _ := f.make(far.Periodic(), withAcme(q))
	running.Go(func() { _ = s.RunOnce(ctx) })
	<-frozen
	locked := func() bool {
		return f.one("SELECT count(*) FROM (SELECT 1 FROM periodic_task FOR UPDATE SKIP LOCKED) AS t") == "0"
	}
	if !locked() {
		t.Fatal("the task was not locked")
	}
	storetest.Eventually(f, "its locks are gone", func() bool { return !locked() })
}
