package relay

import (
	"context"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// Handler consumes an event. After an error it gets the same event again, with
// backoff, while later events of the topic wait. It may get an event more than
// once, with the same id.
type Handler func(ctx context.Context, event outbox.Event) error

// Consumer is a member of a consumer group. A group reads the event store in the
// order of positions and has an offset for each topic. Its members share the
// topics: one member at a time reads a topic. It is safe for
// concurrent use.
type Consumer struct{ relay *Relay }

// NewConsumer returns a member of the group whose log source is, which is what
// store.DB.EventLog returns. A group begins with the oldest event of each topic,
// unless Log.Seek has set its offset. From the first start on, events of the
// group's topics are kept until it has read them, including those of topics that
// are new. Config.Retention, EventRetention and RefusalLimit do not apply.
func NewConsumer(source Source, handle Handler, cfg Config) (*Consumer, error) {
	r, err := newRelay("consumer", source, outbox.OneByOne(handle), cfg)
	if err != nil {
		return nil, err
	}
	r.consumer = true
	return &Consumer{relay: r}, nil
}

// Start begins to consume and returns at once; see [Relay.Start].
func (c *Consumer) Start(ctx context.Context) error { return c.relay.Start(ctx) }

// Stop waits for the batches in flight and commits their offsets; see
// [Relay.Stop].
func (c *Consumer) Stop(ctx context.Context) error { return c.relay.Stop(ctx) }

// Done is closed when the consumer has ended.
func (c *Consumer) Done() <-chan struct{} { return c.relay.Done() }

// Wake makes the consumer query the database now. It never blocks.
func (c *Consumer) Wake() { c.relay.Wake() }
