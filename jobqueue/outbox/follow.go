package outbox

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Follower reads topics of a [Log] as they grow, without a group: nothing of
// what it has read is recorded.
type Follower struct {
	Log Log
	// Topics to follow. nil: all, also those that begin later.
	Topics []string
	// After holds positions by topic: reading begins behind them. Topics that
	// are not in it are read from the beginning.
	After map[string]int64
	// PollInterval is the longest time without a look. 0: DefaultPollInterval.
	PollInterval time.Duration
	// Report is told of failures, which are retried. nil: nobody is.
	Report func(error)
}

// followLimit is how many events are read at once.
const followLimit = 100

// Drain calls fn with the events that there are now, in order within each
// topic, and returns how many. It ends with fn's first error.
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

// Follow calls fn with what there is and what comes, until ctx ends, which is
// no error, or fn fails, whose error it returns.
func (f *Follower) Follow(ctx context.Context, fn func(Event) error) error {
	wake := make(chan struct{}, 1)
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		f.Log.Watch(watching, func() {
			select {
			case wake <- struct{}{}:
			default:
			}
		}, f.report)
	}()
	defer func() { stop(); <-watched }()
	interval := f.PollInterval
	setDefault(&interval, DefaultPollInterval)
	retry := backoff{least: 100 * time.Millisecond, most: 10 * time.Second}
	for {
		wait := interval
		var failed error
		_, err := f.Drain(ctx, func(e Event) error { failed = fn(e); return failed })
		switch {
		case failed != nil:
			return failed
		case err != nil && ctx.Err() == nil:
			f.report(err)
			wait = retry.next()
		default:
			retry.reset()
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
