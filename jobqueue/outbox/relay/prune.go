package relay

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/outboxdb"
)

// Old messages are removed in small transactions.
const (
	pruneInterval = 10 * time.Minute
	pruneLimit    = 1000 // rows in one transaction
)

// prune removes old messages and events at intervals, until ctx ends.
func (r *Relay) prune(ctx context.Context, p outboxdb.Pruner) {
	messages, events := max(r.cfg.Retention, 0), max(r.cfg.EventRetention, 0)
	if messages == 0 && events == 0 {
		return
	}
	interval := pruneInterval
	for _, age := range []time.Duration{messages, events} {
		if age > 0 {
			interval = min(interval, max(age/2, time.Second))
		}
	}
	timer := time.NewTicker(interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			r.pruneAll(ctx, p, messages, events)
		}
	}
}

func (r *Relay) pruneAll(ctx context.Context, p outboxdb.Pruner, messages, events time.Duration) {
	var sum outboxdb.Pruned
	for {
		removed, err := p.Prune(ctx, messages, events, pruneLimit)
		sum.Messages += removed.Messages
		sum.Events += removed.Events
		if err != nil && ctx.Err() == nil {
			r.fail("remove old messages", err)
		}
		if err != nil || removed.Messages < pruneLimit && removed.Events < pruneLimit {
			break
		}
	}
	if sum != (outboxdb.Pruned{}) {
		r.notify(Notice{Kind: NoticePruned, Count: sum.Messages, Events: sum.Events})
	}
}
