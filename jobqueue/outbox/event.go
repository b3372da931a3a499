package outbox

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/text"
)

// Bounds of [Event].
const (
	maxText    = 254      // characters of a name
	maxPayload = 64 << 20 // bytes
)

// ErrInvalid is returned by [AppendTx] for an event that cannot be stored. The
// message names the field and the bound.
var ErrInvalid = errors.New("invalid event")

// Event is a row of the table event_store: something that happened. Times are
// UTC with microseconds; the zero time means NULL.
type Event struct {
	ID               string    // unique; receivers recognize duplicates by it; if it is empty, [AppendTx] makes one
	Topic            string    // where it is published; of a task: its group
	Type             string    // what happened; of a task: the task
	AggregateID      string    // what it happened to; of a task: its id
	AggregateVersion int64     // 1 for the first event of the aggregate, one more for each; set by the store
	Payload          string    // the data, by convention JSON
	Due              time.Time // the tick that it is for, at most one event of an aggregate for each; zero: none
	Created          time.Time // when it was appended, by the database's clock; set by the store
	Traceparent      string    // of who appended it, as the W3C's header has it; empty: none
}

// validate names the field and the bound of what is wrong.
func (e *Event) validate() error {
	names := []struct{ field, value string }{
		{"ID", e.ID}, {"Topic", e.Topic}, {"Type", e.Type}, {"AggregateID", e.AggregateID},
	}
	for _, n := range names {
		switch {
		case n.value == "":
			return fmt.Errorf("%w: %s is empty", ErrInvalid, n.field)
		case !text.Valid(n.value) || utf8.RuneCountInString(n.value) > maxText:
			return fmt.Errorf("%w: %s is no UTF-8 text of at most %d characters without NUL", ErrInvalid, n.field, maxText)
		}
	}
	switch {
	case !text.Valid(e.Payload) || len(e.Payload) > maxPayload:
		return fmt.Errorf("%w: Payload is no UTF-8 text of at most %d bytes without NUL", ErrInvalid, maxPayload)
	case e.AggregateVersion != 0:
		return fmt.Errorf("%w: AggregateVersion is set by the store", ErrInvalid)
	}
	return nil
}
