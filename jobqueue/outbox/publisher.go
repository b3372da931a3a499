package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
)

// Publisher hands events to a receiver. It must be safe for concurrent use with
// events of different topics.
type Publisher interface {
	// Publish hands over the events of one topic, in order. It returns how many
	// events, from the first on, the receiver accepted. If these are not all, it
	// returns an error about the next one. The relay hands over the rest again
	// later. [jobqueue.Permanent] marks an error that no retry would help: the receiver refuses this event.
	// [jobqueue.RetryAfter] marks one after which to wait. Publish must return soon after ctx has ended.
	Publish(ctx context.Context, events []Event) (accepted int, err error)
}

// PublisherFunc is a function as a [Publisher].
type PublisherFunc func(ctx context.Context, events []Event) (accepted int, err error)

// Publish implements [Publisher].
func (f PublisherFunc) Publish(ctx context.Context, events []Event) (int, error) {
	return f(ctx, events)
}

// Consumer handles an event in the transaction that marks it as published: what it writes with tx happens
// once. It must not commit or roll back. After an error all of it is undone, and the
// event is handed over again later. A row that it locks stays locked until it returns; on SQLite nobody
// else can write meanwhile.
type Consumer func(ctx context.Context, tx jobqueue.DBTX, event Event) error

// OneByOne makes a publisher from a function that hands over one event. A panic
// of the function counts as an error. Events for which ctx left no time are handed
// over again later; that does not count as an attempt.
func OneByOne(send func(ctx context.Context, event Event) error) Publisher {
	return PublisherFunc(func(ctx context.Context, events []Event) (int, error) {
		for i, e := range events {
			if ctx.Err() != nil {
				return i, ErrNotTried
			}
			if err := service.Guard(func() error { return send(ctx, e) }); err != nil {
				return i, err
			}
		}
		return len(events), nil
	})
}

// ErrNotTried is returned by a [Publisher] that had no time to try the next
// event.
var ErrNotTried = errors.New("not tried")

// Topics has a publisher for each topic; "*" means all others.
type Topics map[string]Publisher

// Publish implements [Publisher].
func (t Topics) Publish(ctx context.Context, events []Event) (int, error) {
	if len(events) == 0 {
		return 0, nil
	}
	p, ok := t[events[0].Topic]
	if !ok {
		p, ok = t["*"]
	}
	if !ok {
		return 0, fmt.Errorf("there is no publisher for topic %q", events[0].Topic)
	}
	return p.Publish(ctx, events)
}

// Names returns the topics to claim, or nil, which means all, if there is a "*".
func (t Topics) Names() []string {
	names := make([]string, 0, len(t))
	for name := range t {
		if name == "*" {
			return nil
		}
		names = append(names, name)
	}
	return names
}
