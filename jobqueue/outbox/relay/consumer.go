package relay

import (
	"context"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// Handler consumes an event. After an error it gets the same event again, with
// backoff, while later events of the topic wait. It may get an event more than
// once, with the same id.
type Handler func(ctx context.Context, event outbox.Event) error

// NewConsumer returns a member of the consumer group whose log source is, which is what
// store.DB.EventLog returns: a relay that hands events to a handler. A group reads the event
// store in the order of positions and has an offset for each topic. Its members share the
// topics: one member at a time reads a topic. A group begins with the oldest event of each
// topic, unless Log.Seek has set its offset. From the first start on, events of the
// group's topics are kept until it has read them, including those of topics that
// are new. Config.Retention, EventRetention and RefusalLimit do not apply.
func NewConsumer(source Source, handle Handler, cfg Config) (*Relay, error) {
	r, err := newRelay("consumer", source, outbox.OneByOne(handle), cfg)
	if err == nil {
		r.consumer = true
	}
	return r, err
}
