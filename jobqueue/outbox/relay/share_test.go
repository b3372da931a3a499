package relay_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/defaults"
	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

// counting counts how often the topics are listed.
type counting struct {
	outboxdb.Source
	looks *atomic.Int64
}

func (c counting) Claim(ctx context.Context, claim outboxdb.Claim) (outboxdb.Claimed, error) {
	if claim.Among == nil {
		c.looks.Add(1)
	}
	return c.Source.Claim(ctx, claim)
}

// With many topics, to list them for each that becomes free would take most of
// the time.
func TestManyTopicsAreListedSeldom(t *testing.T) {
	both(t, func(f *fixture) {
		const topics = 60
		var batch []outbox.Event
		for i := range topics {
			batch = append(batch, events(fmt.Sprintf("t%d", i), 3)...)
		}
		want := f.append(batch...)
		relayed, consumed := newReceiver(), newReceiver()
		var looks [2]atomic.Int64
		for i, name := range []string{"one", "two"} {
			cfg := f.quick(name)
			cfg.Concurrency, cfg.Lease, cfg.PollInterval = 2, time.Minute, time.Minute
			relay, err := relay.New(counting{f.db.Outbox(), &looks[i]}, relayed.publisher(), cfg)
			if err != nil {
				f.Fatal(err)
			}
			f.start(relay)
			f.consumer("g", consumed.receive, cfg)
		}
		relayed.await(f, len(want))
		if n := looks[0].Load() + looks[1].Load(); n > topics/2 {
			f.Errorf("the topics were listed %d times for %d topics", n, topics)
		}
		consumed.await(f, len(want))
		relayed.check(f, want)
		consumed.check(f, want)
	})
}

// A topic that was given back is free, also if the clock, by which leases end,
// was set back since.
func TestTopicGivenBackIsFreeWhateverTheClockDoes(t *testing.T) {
	both(t, func(f *fixture) {
		f.append(events("t", 1)...)
		for table, source := range map[string]outboxdb.Source{"outbox_topic": f.db.Outbox(), "event_offset": f.db.EventLog("g")} {
			claim := outboxdb.Claim{Terms: outboxdb.Terms{Lease: time.Minute, Limit: 1, Bytes: 1}, Holder: "old", Count: 1}
			old, err := source.Claim(f.Context(), claim)
			if err != nil || len(old.Batches) != 1 {
				f.Fatalf("claimed %+v, %v", old, err)
			}
			for range 2 { // the second time as if the first one's answer had been lost
				if _, err := source.Settle(f.Context(), outboxdb.Settlement{Lease: old.Batches[0].Lease}); err != nil {
					f.Fatal(err)
				}
			}
			f.exec(`UPDATE ` + table + ` SET expires = '9999-01-01 00:00:00.000000'`)
			claim.Holder = "new"
			if c, err := source.Claim(f.Context(), claim); err != nil || len(c.Batches) != 1 {
				f.Errorf("%s: claimed %+v, %v; want the topic that was given back", table, c, err)
			}
		}
	})
}

func TestDrainReadsLargeEventsToo(t *testing.T) {
	both(t, func(f *fixture) {
		batch := events("t", 3)
		for i := range batch {
			batch[i].Payload = strings.Repeat("x", defaults.EventBytes*2/3)
		}
		f.append(batch...)
		follower := outbox.Follower{Log: f.db.EventLog("")}
		for _, want := range []int{3, 0} {
			if n, err := follower.Drain(f.Context(), func(outbox.Event) error { return nil }); n != want || err != nil {
				f.Errorf("read %d events, %v; want %d", n, err, want)
			}
		}
		f.exec(`DELETE FROM outbox_message`)
		f.exec(`DELETE FROM event_store WHERE position = 2`)
		again := outbox.Follower{Log: f.db.EventLog(""), Topics: []string{"t", "none"}, After: map[string]int64{"t": 1}}
		if n, err := again.Drain(f.Context(), func(outbox.Event) error { return nil }); n != 1 || err != nil {
			f.Errorf("read %d events, %v; want the one behind that which was removed", n, err)
		}
	})
}
