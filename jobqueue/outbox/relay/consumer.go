package relay

import (
	"context"
	"errors"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// NewConsumer returns a relay that has a function of this program consume the events of Config.Topics, each in the
// transaction that marks it as published.
func NewConsumer(source Source, consume outbox.Consumer, cfg Config) (*Relay, error) {
	r, err := New(source, nil, cfg)
	if err == nil {
		r.consume = consume
	}
	return r, err
}

// receiver is the publisher of a batch.
func (w *worker) receiver(b *Batch) outbox.Publisher {
	if w.consume == nil {
		return w.publisher
	}
	return outbox.PublisherFunc(func(ctx context.Context, events []outbox.Event) (int, error) {
		for i := range events {
			if ctx.Err() != nil {
				return i, outbox.ErrNotTried
			}
			err := w.source.Consume(ctx, b.Lease, w.terms(), b.Items[i], w.consume)
			var failed *RowError
			switch {
			case err == nil:
			case errors.As(err, &failed):
				return i, failed.Err
			default:
				if !errors.Is(err, ErrLeaseLost) {
					w.fail("consume events", err)
				}
				return i, outbox.ErrNotTried
			}
		}
		return len(events), nil
	})
}
