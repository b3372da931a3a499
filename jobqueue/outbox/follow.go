package outbox

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/defaults"
	"github.com/nextrun/nextrun/internal/service"
)

// Follower reads topics of a [Log] as they grow. It belongs to no group and
// records nothing.
type Follower struct {
	Log Log
	// Topics to follow. nil: all, including those that begin later.
	Topics []string
	// After holds a position by topic, and reading begins after it. Other topics
	// are read from the beginning.
	After map[string]int64
	// PollInterval is the longest time between queries. 0: 30 s.
	PollInterval time.Duration
	// Report, if not nil, is called with each failure. The follower then tries
	// again.
	Report func(error)
}

// followLimit is how many events are read at once.
const followLimit = 100

// Drain calls fn with the events that exist now, in order within each topic, and
// returns their number. It ends with fn's first error.
func (f *Follower) Drain(ctx context.Context, fn func(Event) error) (int, error) {
	ends, err := f.Log.Ends(ctx, f.Topics)
	if err != nil {
		return 0, err
	}
	if f.After == nil {
		f.After = map[string]int64{}
	}
	count := 0
	for _, topic := range slices.Sorted(maps.Keys(ends)) {
		n, err := f.drain(ctx, topic, ends[topic], fn)
		if count += n; err != nil {
			return count, err
		}
	}
	return count, nil
}

// drain calls fn with the events of a topic up to the position end, at least.
func (f *Follower) drain(ctx context.Context, topic string, end int64, fn func(Event) error) (count int, err error) {
	for f.After[topic] < end {
		events, err := f.Log.Read(ctx, topic, f.After[topic], followLimit)
		if err != nil {
			return count, err
		}
		for _, e := range events {
			if err := fn(e); err != nil {
				return count, err
			}
			f.After[topic] = e.Position
			count++
		}
		if len(events) == 0 {
			f.After[topic] = end // what was there has been removed
		}
	}
	return count, nil
}

// Follow calls fn with the events that exist and those to come. It returns fn's
// first error, or nil when ctx ends.
func (f *Follower) Follow(ctx context.Context, fn func(Event) error) error {
	wake := make(chan struct{}, 1)
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		f.Log.Watch(watching, "", func() {
			select {
			case wake <- struct{}{}:
			default:
			}
		}, f.report)
	}()
	defer func() { stop(); <-watched }()
	interval := f.PollInterval
	service.SetDefault(&interval, defaults.PollInterval)
	retry := service.Backoff{Least: 100 * time.Millisecond, Most: 10 * time.Second}
	for {
		wait := interval
		var failed error
		_, err := f.Drain(ctx, func(e Event) error { failed = fn(e); return failed })
		switch {
		case failed != nil:
			return failed
		case err != nil && ctx.Err() == nil:
			f.report(err)
			wait = retry.Next()
		default:
			retry.Reset()
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (f *Follower) report(err error) {
	if f.Report != nil {
		f.Report(err)
	}
}
