package outbox

import (
	"context"
	"time"
)

// Status is where a message is in its life.
type Status string

// The statuses.
const (
	Pending   Status = "pending"   // to be published
	Published Status = "published" // the receiver has it
	Dead      Status = "dead"      // refused too often, and set aside
	Gone      Status = "gone"      // the message was removed; the event is still there
)

// Statuses lists all statuses.
func Statuses() []Status { return []Status{Pending, Published, Dead, Gone} }

// Record is an event with its message.
type Record struct {
	Event
	Status    Status
	Published time.Time // zero: it was not
	Attempts  int       // failed attempts
	Refusals  int       // how many of these the receiver refused for good
	Problem   string    // why the last attempt failed
	Retry     time.Time // time of the next attempt; zero: at once
	Dead      time.Time // when it was set aside; zero: it was not
}

// Filter says which events to list. Zero fields do not filter.
type Filter struct {
	Topic       string
	Type        string
	AggregateID string
	Status      Status
	Part        string    // of the event's id
	Since       time.Time // created at that time or later; zero: whenever
	Until       time.Time // created before that time; zero: whenever
	Limit       int       // at most so many; 0: 100
	WithPayload bool      // read the payloads, too, which may be large
}

// Lag is how far the publishing of a topic is behind.
type Lag struct {
	Topic   string
	Pending int           // messages to be published
	Oldest  time.Time     // when the oldest of them was written; zero: none
	Age     time.Duration // of that one, by the database's clock
	Dead    int           // messages set aside
	Holder  string        // the relay that publishes it now
	Problem string        // of the message whose turn it is
	Retry   time.Time     // when that one is tried again; zero: at once
}

// waitsLong is how long an event waits at most that a relay is about to publish.
const waitsLong = 10 * time.Second

// Unattended reports whether events wait for a relay: none has the topic, and none has
// tried the oldest event.
func (l *Lag) Unattended() bool {
	return l.Pending > 0 && l.Age > waitsLong && l.Holder == "" && l.Problem == ""
}

// Admin inspects and repairs the outbox; store.DB.Outbox implements it.
type Admin interface {
	// List lists events, the newest first, without payload unless the filter asks for it.
	List(ctx context.Context, f Filter) ([]Record, error)
	// Show returns an event, or store.ErrNotFound.
	Show(ctx context.Context, id string) (Record, error)
	// Resend makes the messages of events pending again, whether they are
	// published, dead or gone, and resets their attempts. It returns the ids that
	// it found. Resent events come before pending ones but after those published
	// since, so they are out of order within their topic.
	Resend(ctx context.Context, ids []string) ([]string, error)
	// ResendDead resends all dead messages of a topic.
	ResendDead(ctx context.Context, topic string) ([]string, error)
	// Lag returns, for each topic with unpublished messages, how far it is behind.
	Lag(ctx context.Context) ([]Lag, error)
}
