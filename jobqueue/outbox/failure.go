package outbox

import (
	"errors"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
)

// maxProblem is how much of an error's text is kept, in bytes.
const maxProblem = 2000

// maxRetryAfter bounds the time that a receiver may ask for.
const maxRetryAfter = time.Hour

var errNoReason = errors.New("the publisher gave no reason")

// failure is what a failed attempt means for an item.
func (r *Relay) failure(item Item, err error) *Failure {
	if err == nil {
		err = errNoReason
	}
	f := &Failure{Item: item, Problem: text.Clean(err.Error(), maxProblem), Refused: IsRefusal(err)}
	f.Dead = f.Refused && item.Refusals+1 >= r.cfg.RefusalLimit
	f.Delay = max(
		service.Delay(item.Attempts+1, r.cfg.RetryMin, r.cfg.RetryMax),
		min(delayOf(err), max(maxRetryAfter, r.cfg.RetryMax)),
	)
	return f
}

// unpublishable is what becomes of an item that cannot be handed over: no retry
// helps a relay. A consumer has no dead events; somebody must repair the row.
func (r *Relay) unpublishable(item Item) *Failure {
	return &Failure{
		Item: item, Problem: text.Clean(item.Problem, maxProblem), Dead: item.Message != 0,
		Delay: service.Delay(item.Attempts+1, r.cfg.RetryMin, r.cfg.RetryMax),
	}
}
