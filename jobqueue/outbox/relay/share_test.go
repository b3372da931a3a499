package relay_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

// counting counts how often the topics are listed.
type counting struct {
	relay.Source
	looks *atomic.Int64
}

func (c counting) Topics(ctx context.Context, holder string, only []string) ([]relay.Topic, error) {
	c.looks.Add(1)
	return c.Source.Topics(ctx, holder, only)
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
		if n := relayed.repetitions(); n > 0 {
			f.Errorf("%d events came twice though nothing failed", n)
		}
	})
}
