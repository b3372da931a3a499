package outbox

import (
	"errors"
	"math/rand/v2"
	"time"
)

// maxProblem is how much of an error's text is kept, in bytes.
const maxProblem = 2000

// maxRetryAfter bounds the time that a receiver may ask for.
const maxRetryAfter = time.Hour

var errNoReason = errors.New("the publisher gave no reason")

// failure is what an attempt in vain means for an item.
func (r *Relay) failure(item Item, err error) *Failure {
	if err == nil {
		err = errNoReason
	}
	f := &Failure{Item: item, Problem: cleanText(err.Error(), maxProblem), Refused: IsRefusal(err)}
	f.Dead = f.Refused && item.Refusals+1 >= r.cfg.RefusalLimit
	f.Delay = max(
		delay(item.Attempts, r.cfg.RetryMin, r.cfg.RetryMax),
		min(delayOf(err), max(maxRetryAfter, r.cfg.RetryMax)),
	)
	return f
}

// unpublishable is what becomes of an item that cannot be handed over: no retry
// helps a relay. A consumer has no dead events; somebody must repair the row.
func (r *Relay) unpublishable(item Item) *Failure {
	return &Failure{
		Item: item, Problem: cleanText(item.Problem, maxProblem), Dead: item.Message != 0,
		Delay: delay(item.Attempts, r.cfg.RetryMin, r.cfg.RetryMax),
	}
}

// delay is the time after the attempt that follows so many in vain: it doubles
// from least to most, and varies by a half, so that relays that failed together
// do not come back together.
func delay(attempts int, least, most time.Duration) time.Duration {
	d := least
	for range attempts {
		if d >= most/2 {
			d = most
			break
		}
		d *= 2
	}
	return d/2 + rand.N(d/2+1)
}

// backoff is the time between attempts to reach the database.
type backoff struct {
	least, most time.Duration
	attempts    int
}

func (b *backoff) next() time.Duration {
	b.attempts++
	return delay(b.attempts-1, b.least, b.most)
}

func (b *backoff) reset() { b.attempts = 0 }
