package relay_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

// A trigger of the user's that takes a second delays the topic whose row it is for, and no
// other: G5 for rows of the relay that are slow to write.
func TestTopicsThatAreSlowToWriteDoNotDelayOthers(t *testing.T) { // not beside other tests: it measures times, though most of them asleep
	for name, trigger := range map[string]string{
		"claim":  "BEFORE INSERT ON scheduler_lock FOR EACH ROW WHEN (NEW.name LIKE 'topic:slow%')",
		"settle": "BEFORE UPDATE OF published ON outbox_message FOR EACH ROW WHEN (NEW.topic LIKE 'slow%')",
	} {
		for _, concurrency := range []int{1, 8} {
			t.Run(fmt.Sprintf("%s, concurrency %d", name, concurrency), func(t *testing.T) {
				t.Parallel()
				testSlowTopics(newPostgres(t), trigger, concurrency)
			})
		}
	}
}

const slowTopics = 9

func testSlowTopics(f *fixture, trigger string, concurrency int) {
	f.exec(`CREATE FUNCTION sluggish() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN NEW; END'`)
	f.exec(`CREATE TRIGGER sluggish ` + trigger + ` EXECUTE FUNCTION sluggish()`)
	var mu sync.Mutex
	named := map[string]int{}
	cfg := f.quick("one")
	cfg.Concurrency = concurrency
	cfg.Observe = func(n relay.Notice) {
		mu.Lock()
		defer mu.Unlock()
		switch n.Kind {
		case relay.NoticeSlow:
			named[n.Topic]++
		case relay.NoticeHeldUp, relay.NoticeTrouble, relay.NoticeLost:
			f.Errorf("%s: topic %q: %v", n.Kind, n.Topic, n.Err)
		}
	}
	healthy, r := &stream{sent: map[string]time.Time{}}, newReceiver()
	receive := func(ctx context.Context, e outbox.Event) error {
		if !strings.HasPrefix(e.Topic, "slow") {
			return healthy.receive(ctx, e)
		}
		return r.receive(ctx, e)
	}
	f.relay(outbox.OneByOne(receive), cfg)
	var slow []outbox.Event
	sent := 0
	storetest.Punctual(f, "events beside slow topics", func() []time.Duration {
		healthy.again()
		for range 10 {
			for i := range slowTopics {
				slow = append(slow, f.append(events(fmt.Sprintf("slow%d", i), 1)...)...)
			}
			f.send(sent, 20, healthy)
			sent += 20
		}
		return healthy.late()
	})
	storetest.Eventually(f, "a slow topic is named", func() bool {
		slow = append(slow, f.append(events("slow0", 1)...)...)
		mu.Lock()
		defer mu.Unlock()
		return len(named) > 0
	})
	f.exec(`CREATE OR REPLACE FUNCTION sluggish() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`) // needs no lock of the table
	r.await(f, len(slow))
	r.check(f, slow)
	mu.Lock()
	defer mu.Unlock()
	for topic, n := range named {
		if n != 1 || !strings.HasPrefix(topic, "slow") {
			f.Errorf("topic %q was named as slow %d times", topic, n)
		}
	}
}
