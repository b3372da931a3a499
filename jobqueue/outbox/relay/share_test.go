package relay_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

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
		relayed := newReceiver()
		var looks [2]atomic.Int64
		for i, name := range []string{"one", "two"} {
			cfg := f.quick(name)
			cfg.Concurrency, cfg.Lease, cfg.PollInterval = 2, time.Minute, time.Minute
			relay, err := relay.New(counting{f.db.Outbox(), &looks[i]}, relayed.publisher(), cfg)
			if err != nil {
				f.Fatal(err)
			}
			f.start(relay)
		}
		relayed.await(f, len(want))
		if n := looks[0].Load() + looks[1].Load(); n > topics/2 {
			f.Errorf("the topics were listed %d times for %d topics", n, topics)
		}
		relayed.check(f, want)
	})
}

// A lease that is given back has no row. To give it back once more, as if the first answer had been lost, does no harm.
func TestTopicGivenBackIsFree(t *testing.T) {
	both(t, func(f *fixture) {
		f.append(events("t", 2)...)
		claim := outboxdb.Claim{Terms: outboxdb.Terms{Lease: time.Minute, Limit: 1, Bytes: 1}, Holder: "old", Count: 1}
		old, err := f.db.Outbox().Claim(f.Context(), claim)
		if err != nil || len(old.Batches) != 1 {
			f.Fatalf("claimed %+v, %v", old, err)
		}
		b := old.Batches[0]
		for range 2 {
			if _, err := f.db.Outbox().Settle(f.Context(), outboxdb.Settlement{Lease: b.Lease, Accepted: b.Items}); err != nil {
				f.Fatal(err)
			}
			f.want(0, `SELECT count(*) FROM scheduler_lock`)
		}
		claim.Holder = "new"
		if c, err := f.db.Outbox().Claim(f.Context(), claim); err != nil || len(c.Batches) != 1 || c.Batches[0].Lease.Token == b.Lease.Token {
			f.Errorf("claimed %+v, %v; want the topic that was given back", c, err)
		}
		if _, err := f.db.Outbox().Settle(f.Context(), outboxdb.Settlement{Lease: b.Lease, Accepted: b.Items}); !errors.Is(err, outboxdb.ErrLeaseLost) {
			f.Errorf("settled under a lease of somebody else: %v", err)
		}
	})
}
