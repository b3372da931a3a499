package hookbook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/defaults"
	"github.com/nextrun/nextrun/internal/traceparent"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

// GiveUp is how long delivery is tried. Failures of older events count as refusals,
// and several of those make the event dead.
const GiveUp = 24 * time.Hour

// Settings of the relay that delivers. The lease bounds how long a topic has to wait if
// its relay dies.
const (
	relayLease = time.Minute
	relayBatch = 20
	retryMost  = 5 * time.Minute
)

// RelayConfig fills in what the configuration of the relay that delivers leaves out.
func RelayConfig(c relay.Config) relay.Config {
	if c.Lease == 0 {
		c.Lease = relayLease
	}
	if c.BatchSize == 0 {
		c.BatchSize = relayBatch
	}
	if c.RetryMax == 0 {
		c.RetryMax = retryMost
	}
	return c
}

// Publisher returns the publisher that does what the hooks of a book say. After the
// first event of a batch it begins another one only if there is time for the longest.
func (b *Book) Publisher(next Submitter) outbox.Publisher {
	one := outbox.OneByOne(func(ctx context.Context, e outbox.Event) error {
		err := b.deliver(ctx, e, next)
		if err != nil && time.Since(e.Created) > GiveUp {
			return outbox.Refuse(fmt.Errorf("given up after %s: %w", GiveUp, err))
		}
		return err
	})
	return outbox.PublisherFunc(func(ctx context.Context, events []outbox.Event) (int, error) {
		for i := range events {
			if end, bounded := ctx.Deadline(); i > 0 && bounded && time.Until(end) < defaults.HookTimeoutMost {
				return i, outbox.ErrNotTried
			}
			if _, err := one.Publish(ctx, events[i:i+1]); err != nil {
				return i, err
			}
		}
		return len(events), nil
	})
}

func (b *Book) deliver(ctx context.Context, e outbox.Event, next Submitter) error {
	action := b.action(e.Topic)
	if action == nil {
		return errors.New("this process has no such hook")
	}
	var n hooks.Notice
	if err := json.Unmarshal([]byte(e.Payload), &n); err != nil || n.Hook == "" {
		return outbox.Refuse(errors.New("the payload is not that of a hook"))
	}
	n.ID = e.ID
	if traceparent.Of(ctx) == "" { // deliveries are not traced
		ctx = traceparent.With(ctx, e.Traceparent)
	}
	return act(ctx, action, n, next)
}

// act does what a hook says.
func act(ctx context.Context, action hooks.Action, n hooks.Notice, next Submitter) error {
	task, submits := Next(action)
	if !submits {
		return action.Do(ctx, n)
	}
	reason := fmt.Sprintf("submitted by %s of %s", n.Hook, cmp.Or(n.Task, n.Handler))
	err := next.SubmitNext(ctx, task, n.At, reason)
	if errors.Is(err, jobqueue.ErrNotFound) {
		return outbox.Refuse(err)
	}
	return err
}

// Submitter submits periodic tasks; store.DB.Hooks has one.
type Submitter interface {
	// SubmitNext gives a task a tick of that due time, unless it has one. It returns an
	// error that wraps jobqueue.ErrNotFound if there is no such task.
	SubmitNext(ctx context.Context, task string, due time.Time, reason string) error
}
