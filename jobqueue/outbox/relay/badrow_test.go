package relay_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/store"
)

// Messages are marked by their own id, whatever the event's id is.
func TestEventWhoseIDIsABlobIsPublishedOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(migrated.New(t, storetest.SQLite))
	all := f.append(events("t", 3)...)
	for _, table := range []string{`event_store SET id = CAST(id AS blob) WHERE id`, `outbox_message SET event_id = CAST(event_id AS blob) WHERE event_id`} {
		spoil(f, `UPDATE `+table+` = ?`, all[1].ID)
	}
	r := newReceiver()
	f.relay(r.publisher(), f.quick("one"))
	f.awaitOne("3", `SELECT count(*) FROM outbox_message WHERE published IS NOT NULL`)
	r.check(f, all)
	if n := r.repetitions(); n > 0 {
		f.Errorf("%d events came twice", n)
	}
}

// A batch of messages without an event stopped the topic silently.
func TestMessagesWithoutEventAreSetAside(t *testing.T) {
	both(t, func(f *fixture) {
		const missing = 25
		f.append(events("t", missing)...)
		spoil(f, `DELETE FROM event_store`)
		good := f.append(outbox.Event{Topic: "t", Type: "x", AggregateID: "good"})
		r := newReceiver()
		cfg := f.quick("one")
		cfg.BatchSize = 10
		f.relay(r.publisher(), cfg)
		r.await(f, 1)
		r.check(f, good)
		f.awaitOne("1", `SELECT count(*) FROM outbox_message WHERE published IS NOT NULL`)
		f.want(missing, `SELECT count(*) FROM outbox_message WHERE dead IS NOT NULL AND problem LIKE 'event % is missing from event_store; delete its message: %'`)
	})
}

// A settlement that the database refuses delays a stop by little.
func TestStopDoesNotWaitForARowThatIsRefused(t *testing.T) {
	both(t, func(f *fixture) {
		all := f.append(events("t", 3)...)
		refuse(f, "outbox_message", "UPDATE", "OLD.event_id = '"+all[1].ID+"'")
		named := make(chan struct{}, 100)
		cfg := f.quick("one")
		cfg.Observe = func(n relay.Notice) {
			if n.Kind == relay.NoticeHeldUp {
				named <- struct{}{}
			}
		}
		relay, err := relay.New(f.db.Outbox(), newReceiver().publisher(), cfg)
		if err != nil {
			f.Fatal(err)
		}
		if err := relay.Start(f.Context()); err != nil {
			f.Fatal(err)
		}
		<-named
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := relay.Stop(ctx); err != nil {
			f.Error(err)
		}
	})
}

// An old event that a table of the user's refers to stays; the others go.
func TestPruneLeavesRowsThatCannotBeRemoved(t *testing.T) {
	both(t, func(f *fixture) {
		all := f.append(events("t", 20)...)
		f.exec(`DELETE FROM outbox_message`)
		f.exec(`UPDATE event_store SET created = '2020-01-01 00:00:00.000000'`)
		f.exec(`CREATE TABLE invoice (event varchar(254) REFERENCES event_store (id))`)
		f.exec(`INSERT INTO invoice VALUES (?)`, all[7].ID)
		pruned, err := f.outbox().Prune(f.Context(), time.Hour)
		if err == nil || !strings.Contains(err.Error(), "of event_store that cannot be deleted: 1 (seq 8)") || pruned != 14 {
			f.Errorf("%d, %v", pruned, err)
		}
		f.want(all[7].ID, `SELECT id FROM event_store AS e WHERE aggregate_version < (SELECT version FROM event_aggregate AS a WHERE a.id = e.aggregate_id)`)
	})
}

// While somebody has a whole table locked, nothing of the relay can go on; it
// does when the lock is gone, and stops in time.
func TestLockedTableIsNoReasonToBlameTopics(t *testing.T) {
	t.Parallel()
	f := newPostgres(t)
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
	end := lock(f, `LOCK TABLE outbox_message`)
	db, err := store.Open(f.Context(), f.URL, store.Options{LockTimeout: time.Hour, StatementTimeout: time.Hour})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	relay, err := relay.New(db.Outbox(), r.publisher(), cfg)
	if err != nil {
		f.Fatal(err)
	}
	if err := relay.Start(f.Context()); err != nil {
		f.Fatal(err)
	}
	f.awaitOne("1", `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := relay.Stop(ctx); errors.Is(err, context.DeadlineExceeded) {
		f.Error(err)
	}
	f.relay(r.publisher(), cfg)
	f.awaitOne("1", `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`)
	end()
	r.await(f, len(want))
	r.check(f, want)
	if n := blamed.Load(); n > 0 {
		f.Errorf("%d topics were blamed", n)
	}
}
