package relay_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

// badRow is something that keeps the topic named after it from going on.
type badRow struct {
	name     string
	only     string // the kind of database; empty: both
	harmless bool   // the topic goes on
	// setup makes the row; there are three events in the topic. It returns what
	// heals it, if that is possible.
	setup func(f *fixture, topic string, events []outbox.Event) (heal func())
}

// refuse has a trigger refuse rows of a table.
func refuse(f *fixture, table, operation, when string) (heal func()) {
	f.Helper()
	name := fmt.Sprintf("refuse_%x", time.Now().UnixNano())
	if f.Kind == "sqlite" {
		f.exec(`CREATE TRIGGER ` + name + ` BEFORE ` + operation + ` ON ` + table + ` WHEN ` + when +
			` BEGIN SELECT RAISE(ABORT, 'refused by a trigger'); END`)
		return func() { f.exec(`DROP TRIGGER ` + name) }
	}
	f.exec(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''refused by a trigger''; END'`)
	f.exec(`CREATE TRIGGER ` + name + ` BEFORE ` + operation + ` ON ` + table + ` FOR EACH ROW WHEN (` + when + `) EXECUTE FUNCTION refuse()`)
	return func() { f.exec(`DROP TRIGGER ` + name + ` ON ` + table) }
}

// lock keeps a transaction open that has run a statement.
func lock(f *fixture, statement string, args ...any) (heal func()) {
	f.Helper()
	tx, err := f.SQL.BeginTxx(f.Context(), nil)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := tx.Exec(f.SQL.Rebind(statement), args...); err != nil {
		f.Fatal(err)
	}
	var once sync.Once
	end := func() { once.Do(func() { _ = tx.Rollback() }) }
	f.Cleanup(end)
	return end
}

// spoil changes rows in a way that constraints and triggers would refuse.
func spoil(f *fixture, statement string, args ...any) {
	f.Helper()
	if f.Kind == "postgres" {
		f.exec(`ALTER TABLE outbox_message DROP CONSTRAINT IF EXISTS outbox_message_event_id_fkey`)
		f.exec(statement, args...)
		return
	}
	conn, err := f.SQL.Connx(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	defer conn.Close()
	var triggers []struct{ Name, SQL string }
	if err := conn.SelectContext(f.Context(), &triggers, `SELECT name, sql FROM sqlite_master WHERE type = 'trigger'
		AND tbl_name IN ('event_store', 'outbox_message', 'scheduler_lock')`); err != nil {
		f.Fatal(err)
	}
	run := func(statement string, args ...any) {
		if _, err := conn.ExecContext(f.Context(), statement, args...); err != nil {
			f.Fatalf("%s: %v", statement, err)
		}
	}
	run(`PRAGMA foreign_keys = off`)
	for _, trigger := range triggers {
		run(`DROP TRIGGER ` + trigger.Name)
	}
	run(statement, args...)
	for _, trigger := range triggers {
		run(trigger.SQL)
	}
	run(`PRAGMA foreign_keys = on`)
}

func badRows() []badRow {
	trigger := func(table, operation, when string) func(*fixture, string, []outbox.Event) func() {
		return func(f *fixture, topic string, events []outbox.Event) func() {
			return refuse(f, table, operation, strings.NewReplacer("TOPIC", topic, "EVENT", events[1].ID).Replace(when))
		}
	}
	held := func(statement string) func(*fixture, string, []outbox.Event) func() {
		return func(f *fixture, topic string, events []outbox.Event) func() {
			return lock(f, strings.NewReplacer("TOPIC", topic, "EVENT", events[1].ID).Replace(statement))
		}
	}
	spoiled := func(statement string) func(*fixture, string, []outbox.Event) func() {
		return func(f *fixture, topic string, events []outbox.Event) func() {
			spoil(f, strings.NewReplacer("TOPIC", topic, "EVENT", events[1].ID).Replace(statement))
			return nil
		}
	}
	return []badRow{
		{"message refused", "", false, trigger("outbox_message", "UPDATE", "OLD.event_id = 'EVENT'")},
		{"lease refused", "", false, trigger("scheduler_lock", "INSERT", "NEW.name = 'topic:TOPIC'")},
		{"event missing", "", false, spoiled(`DELETE FROM event_store WHERE id = 'EVENT'`)},
		{"message locked", "postgres", false, held(`SELECT 1 FROM outbox_message WHERE event_id = 'EVENT' FOR UPDATE`)},
		{"lease locked", "postgres", false, held(insertLease)},
		{"attempts at their limit", "postgres", true, func(f *fixture, _ string, events []outbox.Event) func() {
			f.exec(`UPDATE outbox_message SET attempts = 2147483647, refusals = 2147483647 WHERE event_id = ?`, events[1].ID)
			return nil
		}},
		{"id is a BLOB", "sqlite", false, func(f *fixture, _ string, events []outbox.Event) func() {
			spoil(f, `UPDATE event_store SET id = x'ff00' WHERE id = ?`, events[1].ID)
			spoil(f, `UPDATE outbox_message SET event_id = x'ff00' WHERE event_id = ?`, events[1].ID)
			return nil
		}},
		{"version is text", "sqlite", false, spoiled(`UPDATE event_store SET aggregate_version = 'three' WHERE id = 'EVENT'`)},
		{"created is text", "sqlite", false, spoiled(`UPDATE event_store SET created = 'now' WHERE id = 'EVENT'`)},
		{"payload is a number", "sqlite", true, spoiled(`UPDATE event_store SET payload = CAST(17 AS integer) WHERE id = 'EVENT'`)},
		{"attempts are text", "sqlite", true, spoiled(`UPDATE outbox_message SET attempts = 'many', retry = 'soon' WHERE event_id = 'EVENT'`)},
	}
}

// insertLease adds the lease of a topic.
const insertLease = `INSERT INTO scheduler_lock (name, holder, hostname, pid, token, acquired, heartbeat, expires)
	VALUES ('topic:TOPIC', 'x', '', 0, 1, '2020-01-01', '2020-01-01', '2020-01-01')`

// reported collects the notices of a relay by topic.
type reported struct {
	mu sync.Mutex
	of map[string][]relay.Notice
}

func (r *reported) observe(n relay.Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch n.Kind {
	case relay.NoticePublished:
	default:
		r.of[n.Topic] = append(r.of[n.Topic], n)
	}
}

// G5 for relays: beside up to ten rows of all kinds that fail, the
// other topics are as punctual as before; each such row is named once; and its
// topic goes on when the row is healed.
func TestBadRowsHoldUpTheirTopicsOnly(t *testing.T) {
	for _, kind := range []string{storetest.Postgres, storetest.SQLite} { // not beside other tests: it measures times
		t.Run(kind, func(t *testing.T) { testBadRows(newFixture(migrated.New(t, kind))) })
	}
}

func testBadRows(f *fixture) {
	if f.Kind == "sqlite" {
		f.SQL.SetMaxOpenConns(1)
	}
	relayed := &stream{sent: map[string]time.Time{}}
	notices := &reported{of: map[string][]relay.Notice{}}
	var heal []func()
	var topics []string
	sent := 0
	for i, bad := range badRows() {
		if bad.only != "" && bad.only != f.Kind {
			continue
		}
		topic := fmt.Sprintf("bad%02d", i)
		if !bad.harmless {
			topics = append(topics, topic)
		}
		all := f.append(events(topic, 3)...)
		if h := bad.setup(f, topic, all); h != nil {
			heal = append(heal, h)
		}
	}
	cfg := f.quick("one")
	cfg.RetryMin, cfg.RetryMax, cfg.Observe = time.Hour, time.Hour, notices.observe
	r := newReceiver()
	f.relay(outbox.OneByOne(func(ctx context.Context, e outbox.Event) error {
		_, _ = relayed.receive(ctx, e), r.receive(ctx, e)
		return nil
	}), cfg)
	storetest.Punctual(f, "healthy events", func() []time.Duration {
		relayed.again()
		f.send(sent, 120, relayed)
		sent += 120
		return relayed.late()
	})
	for _, topic := range topics {
		storetest.Eventually(f, "topic "+topic+" is named", func() bool { return notices.names(topic) })
	}
	notices.check(f)
	for _, h := range slices.Backward(heal) { // locks first: DROP TRIGGER waits for them
		h()
	}
	f.append(events("after", 1)...) // has them look again
	f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL AND dead IS NULL AND topic = CAST(topic AS varchar(254))`)
	times := map[string]int{}
	for _, e := range r.got {
		if times[e.ID]++; times[e.ID] > 3 || times[e.ID] > 1 && !slices.Contains(topics, e.Topic) {
			f.Errorf("an event of topic %s was published %d times", e.Topic, times[e.ID])
		}
	}
}

func (r *reported) names(topic string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.of[topic]) > 0
}

// check fails if a row was named more than once, or something else was reported.
func (r *reported) check(f *fixture) {
	f.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for topic, list := range r.of {
		if len(list) > 1 || !strings.HasPrefix(topic, "bad") || list[0].Err == nil {
			f.Errorf("topic %q has %d notices, the first is %s: %v", topic, len(list), list[0].Kind, list[0].Err)
		}
	}
}
