package relay_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

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
