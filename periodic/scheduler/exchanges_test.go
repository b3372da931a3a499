package scheduler_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/store"
)

// counted returns the URL of a server behind which the exchanges with it are counted: each
// ends when the server is ready for the next query.
func counted(t testing.TB, server string) (through string, exchanges *atomic.Int64) {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	exchanges = &atomic.Int64{}
	to := u.Host
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go relay(client, to, exchanges)
		}
	}()
	u.Host = listener.Addr().String()
	return u.String(), exchanges
}

func relay(client net.Conn, to string, exchanges *atomic.Int64) {
	defer client.Close()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
	head := make([]byte, 5) // the kind of a message and its length
	for {
		if _, err := io.ReadFull(server, head); err != nil {
			return
		}
		if head[0] == 'Z' { // ReadyForQuery
			exchanges.Add(1)
		}
		if _, err := client.Write(head); err != nil {
			return
		}
		if _, err := io.CopyN(client, server, int64(binary.BigEndian.Uint32(head[1:]))-4); err != nil {
			return
		}
	}
}

// When tasks fall due that a scheduler has claimed before, their jobs are three exchanges
// away: the time, the statement, the commit.
func TestDueTasksTakeThreeExchangesOnPostgres(t *testing.T) {
	f := newPostgresFixture(t)
	through, exchanges := counted(t, f.URL)
	now := atomic.Pointer[time.Time]{}
	due := time.Now().UTC().Truncate(time.Second).Add(time.Hour)
	set := func(at time.Time) { now.Store(&at) }
	set(due.Add(-time.Second))
	db, err := store.Open(t.Context(), through, store.Options{Clock: func() time.Time { return *now.Load() }})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	queues := db.Periodic().Queues(nil)
	c := batch.New("w@1", db.Periodic().Update, db.Periodic().Read, queues)
	c.Sleep = func(time.Duration) {
		set(due)
		exchanges.Store(0)
	}
	for _, id := range []string{"a", "b"} { // a new connection, and one that was used before
		f.exec("INSERT INTO periodic_task (id, task, timer) VALUES (?, 'backup', ?)", id, due.Format("*-01-02 15:04:05.000000"))
		f.exec("UPDATE periodic_task SET due = ?, nextrun = ? WHERE id = ?", utc(due), utc(due), id)
		set(due.Add(-batch.MaxEarly))
		b, err := c.Read(t.Context(), batch.Wanted{Limit: 10, Ahead: time.Second})
		if err != nil || len(b.Plans) != 1 {
			t.Fatalf("read %+v, %v", b, err)
		}
		b.Now = time.Time{} // as the loop writes what was made ahead
		done, err := c.Submit(t.Context(), storetest.Patience, b)
		if err != nil || len(done.Ticks) != 1 {
			t.Fatalf("submitted %+v, %+v, %v", b, done, err)
		}
		if n := exchanges.Load(); n != 3 {
			t.Errorf("%d exchanges between the due instant and the commit, want 3", n)
		}
		if got := f.one("SELECT count(*) FROM job WHERE tracker = ? AND due = ? AND submitted = ?", id, utc(due), utc(due)); got != "1" {
			t.Errorf("%s jobs of %s", got, id)
		}
	}
}
