package leader

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// contender is what the one goroutine of an elector does: it contends for the
// lock, and keeps it.
type contender struct{ *Elector }

// run goes from term to term until ctx or the elector ends.
func (e contender) run(ctx context.Context) {
	for ctx.Err() == nil {
		t, _ := e.Term() // Start may have begun one
		if t == nil {
			if !e.contend(ctx) {
				return
			}
			continue
		}
		e.keep(ctx, t)
		if !t.Holds() {
			e.standBack(ctx, t)
		}
	}
}

// contend tries to take the lock until a term has begun. It returns false if none will.
func (e contender) contend(ctx context.Context) bool {
	for ctx.Err() == nil {
		wait := e.cfg.Heartbeat
		if e.works() {
			err := e.attempt(ctx)
			var held *HeldError
			switch {
			case err == nil:
				e.retry.Reset()
				return true
			case !errors.As(err, &held):
				e.fail("take the lock", err)
				wait = e.retry.Next()
			case e.cfg.Exclusive:
				e.end(held)
				return false
			default:
				wait = e.standBy(held.Lock)
			}
		}
		select {
		case <-ctx.Done():
		case <-e.life.Woken():
		case <-time.After(wait):
		}
	}
	return false
}

// attempt begins a term. If somebody else holds the lock, which it finds out without writing, it returns a [*HeldError].
func (e contender) attempt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.cfg.TTL/3)
	defer cancel()
	claim, asked := e.cfg.claim(), time.Now()
	l, err := e.store.Inspect(ctx, e.cfg.Name)
	if err == nil && (!l.Live() || l.Holder == e.cfg.Holder) {
		e.claimed = claim.Fence // also if the answer is lost
		l, err = e.store.Take(ctx, claim)
	}
	if err != nil {
		return fmt.Errorf("take the scheduler lock %q: %w", e.cfg.Name, err)
	}
	e.see(l)
	if l.Fence() != claim.Fence {
		e.claimed = Fence{}
		return &HeldError{Lock: l}
	}
	e.begin(newTerm(claim.Fence, asked.Add(e.cfg.trust())))
	return nil
}

// begin makes a term the current one.
func (e contender) begin(t *Term) {
	e.mu.Lock()
	e.term = t
	close(e.changed)
	e.changed = make(chan struct{})
	e.mu.Unlock()
	e.announced = ""
	e.observe(Event{Kind: EventLeading, Lock: e.Seen()})
}

// standBy says who holds the lock, and how long to wait for the next look.
func (e contender) standBy(l Lock) time.Duration {
	e.retry.Reset()
	if e.announced != l.Holder {
		e.announced = l.Holder
		e.observe(Event{Kind: EventStandby, Lock: l})
	}
	return min(e.cfg.Heartbeat, max(l.Expires.Sub(l.Now), 0)+time.Millisecond)
}

// keep renews the lock until the term or ctx ends. After a wake-up it checks whether
// the row is still this term's.
func (e contender) keep(ctx context.Context, t *Term) {
	ctx, cancel := t.During(ctx)
	defer cancel()
	for next := time.Now().Add(e.cfg.Heartbeat); t.Holds(); {
		select {
		case <-ctx.Done():
			return
		case <-e.life.Woken():
			e.check(ctx, t)
		case <-time.After(time.Until(next)):
			next = e.renew(ctx, t)
		}
	}
}

func (e contender) check(ctx context.Context, t *Term) {
	l, err := e.store.Inspect(ctx, e.cfg.Name)
	if err != nil {
		return // the renewal says so
	}
	if e.see(l); l.Fence() != t.Fence() {
		t.End()
	}
}

// renew moves the expiry, and returns when to do so again: after an error soon, until trust ends. A holder that makes
// no progress gives the lock back.
func (e contender) renew(ctx context.Context, t *Term) (next time.Time) {
	if !e.works() {
		t.end(ErrIdle)
		return next
	}
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	asked := time.Now()
	ok, err := e.store.Renew(ctx, t.Fence(), e.cfg.TTL)
	switch {
	case err != nil:
		e.fail("renew the lock", err)
		return time.Now().Add(e.cfg.Heartbeat / 4)
	case !ok:
		t.End()
	default:
		t.extend(asked.Add(e.cfg.trust()))
	}
	return asked.Add(e.cfg.Heartbeat)
}

// standBack leaves the lock to others after a term has ended: long enough for each of them to look once.
func (e contender) standBack(ctx context.Context, t *Term) {
	e.mu.Lock()
	e.term = nil
	e.mu.Unlock()
	t.End()
	wait := time.After(e.cfg.Heartbeat + e.cfg.Heartbeat/10)
	err := e.giveBack(ctx) // before the event, whose observer may keep this goroutine waiting
	e.observe(Event{Kind: EventLost, Lock: e.Seen(), Err: context.Cause(t.Context())})
	if err != nil {
		e.fail("release the lock", err)
	}
	select {
	case <-ctx.Done():
	case <-wait:
	}
}

// giveBack releases the lock, if that does not take long.
func (e contender) giveBack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Heartbeat)
	defer cancel()
	return e.release(ctx)
}

func (e contender) works() bool { return e.cfg.Works == nil || e.cfg.Works() }

// see keeps the lock as just read.
func (e contender) see(l Lock) {
	e.mu.Lock()
	e.seen = l
	e.mu.Unlock()
}
