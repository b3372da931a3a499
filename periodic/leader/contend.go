package leader

import (
	"context"
	"fmt"
	"time"
)

// contender is what the one goroutine of an elector does: it contends for the
// lock, and keeps it.
type contender struct{ *Elector }

// run keeps the lock, or contends for it, until ctx or the elector ends.
func (e contender) run(ctx context.Context) {
	woken := false
	for ctx.Err() == nil && !e.isShutDown() {
		timer := time.NewTimer(e.step(ctx, woken))
		select {
		case <-ctx.Done():
		case <-e.life.Woken():
			woken = true
		case <-timer.C:
			woken = false
		}
		timer.Stop()
	}
}

func (e contender) isShutDown() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err != nil
}

// step does what is due now and returns how long to wait for the next step.
func (e contender) step(ctx context.Context, woken bool) time.Duration {
	e.mu.Lock()
	t, why := e.term, e.whyEnded
	e.mu.Unlock()
	if t == nil {
		return e.contend(ctx)
	}
	if t.Holds() {
		return e.keep(ctx, t, woken)
	}
	e.concludeTerm(ctx, t, why)
	return e.contend(ctx)
}

// concludeTerm completes the end of a term: it reports it and, after a resignation,
// releases the lock.
func (e contender) concludeTerm(ctx context.Context, t *Term, why ending) {
	t.finish()
	e.mu.Lock()
	e.term, e.whyEnded = nil, expired
	e.mu.Unlock()
	e.announced = ""
	if why != expired {
		e.standBack = time.Now().Add(e.cfg.standBack(why))
	}
	if why != resigned {
		e.observe(Event{Kind: EventLost, Fence: t.Fence(), Err: ErrLost})
		return
	}
	e.observe(Event{Kind: EventResigned, Fence: t.Fence()})
	ctx, cancel := context.WithTimeout(ctx, e.patience())
	defer cancel()
	if err := e.release(ctx); err != nil {
		e.fail("release the lock", err)
	}
}

// keep renews the lock when that is due. After a wake-up it checks whether the row
// is still this term's.
func (e contender) keep(ctx context.Context, t *Term, woken bool) time.Duration {
	next, until := t.deadlines(e.cfg.Heartbeat)
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	switch now := time.Now(); {
	case !e.works():
		return max(0, min(e.cfg.Heartbeat, time.Until(until)))
	case !now.Before(next):
		return e.renew(ctx, t)
	case woken:
		l, err := e.inspect(ctx)
		if err == nil && (l.Fence() != t.Fence() || !l.Live()) {
			e.Depose(t)
			return 0
		}
	}
	return max(0, min(time.Until(next), time.Until(until)))
}

func (e contender) works() bool { return e.cfg.Works == nil || e.cfg.Works() }

// renew moves the expiry. After an error it is tried again soon, until trust
// ends.
func (e contender) renew(ctx context.Context, t *Term) time.Duration {
	open := t.closeGate()
	defer open()
	asked := time.Now()
	ok, err := e.store.Renew(ctx, t.Fence(), e.cfg.TTL)
	if err != nil {
		e.fail("renew the lock", err)
		_, until := t.deadlines(0)
		return max(0, min(e.cfg.Heartbeat/4, time.Until(until)))
	}
	if !ok {
		e.Depose(t)
		return 0
	}
	if !t.extend(asked, e.cfg.trust()) {
		return 0 // the answer came too late
	}
	return max(0, time.Until(asked.Add(e.cfg.Heartbeat)))
}

// contend takes the lock if it can be taken.
func (e contender) contend(ctx context.Context) time.Duration {
	if !e.works() {
		return e.cfg.Heartbeat
	}
	ctx, cancel := context.WithTimeout(ctx, e.patience())
	defer cancel()
	l, err := e.inspect(ctx)
	if err != nil {
		return e.trouble("read the lock", err)
	}
	if l.Live() && l.Holder != e.cfg.Holder {
		return e.standBy(l)
	}
	// A row that somebody has deleted gives the lock to nobody.
	if left := time.Until(e.standBack); left > 0 && l.State() != Never {
		return left
	}
	t, _, err := e.acquire(ctx)
	if err != nil {
		return e.trouble("acquire the lock", err)
	}
	e.retry.Reset()
	if t == nil {
		return e.cfg.Heartbeat / 10 // another contender was faster: find out who
	}
	e.beginTerm(t)
	return 0
}

// standBy plans the next look while somebody else holds the lock. An exclusive elector
// ends.
func (e contender) standBy(l Lock) time.Duration {
	e.retry.Reset()
	e.mayHold = false
	if e.cfg.Exclusive {
		e.shutDown(&HeldError{Lock: l})
		return 0
	}
	if e.announced != l.Holder {
		e.announced = l.Holder
		e.observe(Event{Kind: EventStandby, Lock: l})
	}
	return min(e.cfg.Heartbeat, max(l.Expires.Sub(l.Now), 0)+time.Millisecond)
}

// seize takes the lock or fails, for Start.
func (e contender) seize(ctx context.Context) error {
	t, l, err := e.acquire(ctx)
	if err != nil {
		return fmt.Errorf("acquire the scheduler lock %q: %w", e.cfg.Lock, err)
	}
	if t == nil {
		e.mayHold = false
		return &HeldError{Lock: l}
	}
	e.beginTerm(t)
	return nil
}

// acquire returns a term, or the lock as it was read if somebody else holds it.
func (e contender) acquire(ctx context.Context) (*Term, Lock, error) {
	e.mayHold = true // also if the answer is lost
	asked := time.Now()
	l, ok, err := e.store.Acquire(ctx, e.cfg.claim(e.highest))
	if err != nil {
		return nil, l, err
	}
	e.remember(l)
	if !ok {
		return nil, l, nil
	}
	return newTerm(l.Fence(), asked, e.cfg.trust()), l, nil
}

// beginTerm makes a term the current one.
func (e contender) beginTerm(t *Term) {
	e.mu.Lock()
	e.term, e.whyEnded = t, expired
	close(e.changed)
	e.changed = make(chan struct{})
	e.mu.Unlock()
	e.announced = ""
	e.observe(Event{Kind: EventLeading, Fence: t.Fence()})
}

func (e contender) inspect(ctx context.Context) (Lock, error) {
	l, err := e.store.Inspect(ctx, e.cfg.Lock)
	if err == nil {
		e.remember(l)
	}
	return l, err
}

// remember keeps the lock as just read.
func (e contender) remember(l Lock) {
	e.mu.Lock()
	e.seen = l
	e.mu.Unlock()
	e.highest = max(e.highest, l.Token)
}

// trouble reports an error and returns how long to wait: a short time at first, then
// longer, at most a Heartbeat.
func (e contender) trouble(doing string, err error) time.Duration {
	e.fail(doing, err)
	return e.retry.Next()
}

// patience is how long to wait for an answer while not holding the lock.
func (e contender) patience() time.Duration { return e.cfg.TTL / 3 }
