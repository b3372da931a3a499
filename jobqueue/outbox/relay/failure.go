package relay

import (
	"errors"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue/outbox"
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
	f := &Failure{Item: item, Problem: text.Clean(err.Error(), maxProblem), Refused: outbox.IsRefusal(err)}
	limit := outbox.RefusalLimit(err)
	f.Dead = f.Refused && limit != outbox.Never && item.Refusals+1 >= limit
	var asked service.DelayedError
	_ = errors.As(err, &asked)
	f.Delay = max(
		service.Delay(item.Attempts+1, r.cfg.RetryMin, r.cfg.RetryMax),
		min(asked.Delay, max(maxRetryAfter, r.cfg.RetryMax)),
	)
	return f
}
