package relay_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

// ends ends a transaction.
func ends(tx *sqlx.Tx) func() { return func() { _ = tx.Rollback() } }

// remove deletes events whose messages stay, which a foreign key would refuse.
func remove(f *fixture, where string) (heal func()) {
	f.Helper()
	if f.Kind == storetest.Postgres {
		f.Exec(`ALTER TABLE outbox_message DROP CONSTRAINT IF EXISTS outbox_message_event_id_fkey`)
		f.Exec(`DELETE FROM event_store WHERE ` + where)
		return func() {}
	}
	conn, err := f.SQL.Connx(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{`PRAGMA foreign_keys = off`, `DELETE FROM event_store WHERE ` + where, `PRAGMA foreign_keys = on`} {
		if _, err := conn.ExecContext(f.Context(), statement); err != nil {
			f.Fatal(err)
		}
	}
	return func() {}
}

// badRow is something that keeps a topic from going on.
type badRow struct {
	name     string
	only     string // the kind of database; empty: both
	harmless bool   // the topic goes on
	// setup makes the row in a topic of three events, and returns what heals it.
	setup func(f *fixture, topic, event string) (heal func())
}

var badRows = []badRow{
	{"message refused", "", false, func(f *fixture, _, event string) func() {
		return f.Refuse("outbox_message", "UPDATE", "OLD.event_id = '"+event+"'", "P0001")
	}},
	{"lease refused", "", false, func(f *fixture, topic, _ string) func() {
		return f.Refuse("scheduler_lock", "INSERT", "NEW.name = 'topic:"+topic+"'", "P0001")
	}},
	{"event missing", "", false, func(f *fixture, _, event string) func() {
		return remove(f, "id = '"+event+"'")
	}},
	{"message locked", storetest.Postgres, false, func(f *fixture, _, event string) func() {
		return ends(f.Hold(`SELECT 1 FROM outbox_message WHERE event_id = ? FOR UPDATE`, event))
	}},
	{"lease locked", storetest.Postgres, false, func(f *fixture, topic, _ string) func() {
		return ends(f.Hold(`INSERT INTO scheduler_lock (name, holder, hostname, pid, token, acquired, heartbeat, expires)
			VALUES ('topic:` + topic + `', 'x', '', 0, 1, '2020-01-01', '2020-01-01', '2020-01-01')`))
	}},
	{"attempts at their limit", storetest.Postgres, true, func(f *fixture, _, event string) func() {
		f.Exec(`UPDATE outbox_message SET attempts = 2147483647, refusals = 2147483647 WHERE event_id = ?`, event)
		return func() {}
	}},
}

// G5 for relays: beside rows of all kinds that fail, the other topics are as punctual as before; each
// such row is named once; and its topic goes on when the row is healed.
func TestBadRowsHoldUpTheirTopicsOnly(t *testing.T) {
	for _, kind := range []string{storetest.Postgres, storetest.SQLite} { // not beside other tests: it measures times
		t.Run(kind, func(t *testing.T) { testBadRows(newFixture(migrated.New(t, kind))) })
	}
}

func testBadRows(f *fixture) {
	if f.Kind == storetest.SQLite {
		f.SQL.SetMaxOpenConns(1)
	}
	var heal []func()
	var topics []string
	for _, bad := range badRows {
		if bad.only != "" && bad.only != f.Kind {
			continue
		}
		if !bad.harmless {
			topics = append(topics, bad.name)
		}
		heal = append(heal, bad.setup(f, bad.name, f.append(events(bad.name, 3)...)[1].ID))
	}
	named := make(chan relay.Notice, 1000)
	cfg := f.quick("one")
	cfg.RetryMin, cfg.RetryMax = time.Hour, time.Hour
	cfg.Observe = func(n relay.Notice) {
		if n.Kind != relay.NoticePublished {
			named <- n
		}
	}
	r, healthy := newReceiver(), make(chan string, 1000)
	f.relay(outbox.OneByOne(func(ctx context.Context, e outbox.Event) error {
		if strings.HasPrefix(e.Topic, "healthy") {
			healthy <- e.ID
		}
		return r.receive(ctx, e)
	}), cfg)
	storetest.Punctual(f, "healthy events", func() (late []time.Duration) {
		for n := range 40 {
			began := time.Now()
			f.append(outbox.Event{Topic: fmt.Sprintf("healthy%d", n%20), Type: "x", AggregateID: fmt.Sprint(n)})
			<-healthy
			late = append(late, time.Since(began))
		}
		return late
	})
	for left := slices.Clone(topics); len(left) > 0; {
		n := <-named
		at := slices.Index(left, n.Topic)
		if at < 0 || n.Err == nil {
			f.Fatalf("topic %q is named as %s: %v", n.Topic, n.Kind, n.Err)
		}
		left = slices.Delete(left, at, at+1)
	}
	if len(named) > 0 {
		f.Errorf("then it was named again: %+v", <-named)
	}
	for _, h := range slices.Backward(heal) { // locks first: DROP TRIGGER waits for them
		h()
	}
	f.append(events("after", 1)...) // has them look again
	f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL AND dead IS NULL`)
	times := map[string]int{}
	for _, e := range r.got {
		if times[e.ID]++; times[e.ID] > 3 || times[e.ID] > 1 && !slices.Contains(topics, e.Topic) {
			f.Errorf("an event of topic %s was published %d times", e.Topic, times[e.ID])
		}
	}
}

// A settlement that the database refuses delays a stop by little.
func TestStopDoesNotWaitForARowThatIsRefused(t *testing.T) {
	both(t, func(f *fixture) {
		all := f.append(events("t", 3)...)
		f.Refuse("outbox_message", "UPDATE", "OLD.event_id = '"+all[1].ID+"'", "P0001")
		named := make(chan struct{}, 100)
		cfg := f.quick("one")
		cfg.Observe = func(n relay.Notice) {
			if n.Kind == relay.NoticeHeldUp {
				named <- struct{}{}
			}
		}
		relay := f.relay(newReceiver().publisher(), cfg)
		<-named
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := relay.Stop(ctx); err != nil {
			f.Error(err)
		}
	})
}

// While somebody has a whole table locked, nothing of the relay can go on; it
// does when the lock is gone.
func TestLockedTableIsNoReasonToBlameTopics(t *testing.T) {
	t.Parallel()
	f := newFixture(migrated.New(t, storetest.Postgres))
	var blamed atomic.Int64
	cfg := f.quick("one")
	cfg.Observe = func(n relay.Notice) {
		if n.Kind == relay.NoticeHeldUp {
			blamed.Add(1)
		}
	}
	r := newReceiver()
	var want []outbox.Event
	for _, topic := range []string{"a", "b", "c"} {
		want = append(want, f.append(events(topic, 2)...)...)
	}
	end := ends(f.Hold(`LOCK TABLE outbox_message`))
	f.relay(r.publisher(), cfg)
	f.awaitOne("1", `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`)
	end()
	r.await(f, len(want))
	r.check(f, want)
	if n := blamed.Load(); n > 0 {
		f.Errorf("%d topics were blamed", n)
	}
}
