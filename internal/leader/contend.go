package leader

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
)

// contender is what the one goroutine of an elector does: it contends for the
// lock, and keeps it.
type contender struct{ *Elector }

// run keeps the lock, or contends for it, until ctx or the elector ends.
func (e contender) run(ctx context.Context) {
	woken := false
	for ctx.Err() == nil && !e.ended() {
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

func (e contender) ended() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err != nil
}

// step does what is due now and returns how long to wait for the next step.
func (e contender) step(ctx context.Context, woken bool) time.Duration {
	e.mu.Lock()
	t, why := e.term, e.why
	e.mu.Unlock()
	if t == nil {
		return e.contend(ctx, woken)
	}
	if t.Holds() {
		return e.keep(ctx, t, woken)
	}
	e.conclude(ctx, t, why)
	return e.contend(ctx, true)
}

// conclude completes the end of a term: it reports it and, after a resignation,
// releases the lock.
func (e contender) conclude(ctx context.Context, t *Term, why ending) {
	t.finish()
	e.mu.Lock()
	e.term, e.why = nil, expired
	e.mu.Unlock()
	e.shown = ""
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
	next, until := t.times(e.cfg.Heartbeat)
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	switch now := time.Now(); {
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

// renew moves the expiry. After an error it is tried again soon, until trust
// ends.
func (e contender) renew(ctx context.Context, t *Term) time.Duration {
	open := t.shut()
	defer open()
	begun := time.Now()
	ok, err := e.store.Renew(ctx, t.Fence(), e.cfg.TTL)
	if err != nil {
		e.fail("renew the lock", err)
		_, until := t.times(0)
		return max(0, min(e.cfg.Heartbeat/4, time.Until(until)))
	}
	if !ok {
		e.Depose(t)
		return 0
	}
	crashpoint.At("lock/kept")
	if !t.extend(begun, e.cfg.trust()) {
		return 0 // the answer came too late
	}
	return max(0, time.Until(begun.Add(e.cfg.Heartbeat)))
}

// contend takes the lock if it can be taken. Between two looks at the lock, unless
// woken, it only asks whether the holder has ended.
func (e contender) contend(ctx context.Context, woken bool) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, e.patience())
	defer cancel()
	holder := e.Seen().Holder
	ended, again, err := e.holderEnded(ctx, holder)
	if err != nil {
		return e.trouble("ask for the holder of the lock", err)
	}
	if left := time.Until(e.readAt); left > 0 && !woken && !ended {
		return min(left, again)
	}
	e.readAt = time.Time{}
	l, err := e.inspect(ctx)
	if err != nil {
		return e.trouble("read the lock", err)
	}
	var over Fence
	if ended && l.Holder == holder {
		over = l.Fence()
	} else if l.Live() && l.Holder != e.cfg.Holder {
		return min(e.follow(l), again)
	}
	// A row that somebody has deleted gives the lock to nobody.
	if left := time.Until(e.standBack); left > 0 && l.State() != Never {
		return left
	}
	t, _, err := e.acquire(ctx, over)
	if err != nil {
		return e.trouble("acquire the lock", err)
	}
	e.retry.Reset()
	if t == nil {
		return e.cfg.Heartbeat / 10 // another contender was faster: find out who
	}
	e.begin(t)
	return 0
}

// follow stands by while somebody else holds the lock. An exclusive elector
// ends.
func (e contender) follow(l Lock) time.Duration {
	e.retry.Reset()
	e.owed = false
	if e.cfg.Exclusive {
		e.finish(&HeldError{Lock: l})
		return 0
	}
	if e.shown != l.Holder {
		e.shown = l.Holder
		e.observe(Event{Kind: EventStandby, Lock: l})
	}
	wait := min(e.cfg.Heartbeat, max(l.Expires.Sub(l.Now), 0)+time.Millisecond)
	e.readAt = time.Now().Add(wait)
	return wait
}

// holderEnded reports whether the database knows that another holder has ended, and when
// to ask again.
func (e contender) holderEnded(ctx context.Context, holder string) (ended bool, again time.Duration, err error) {
	if holder == "" || holder == e.cfg.Holder {
		return false, e.cfg.Heartbeat, nil
	}
	holders, again, err := e.store.Ended(ctx)
	if again == 0 {
		again = e.cfg.Heartbeat
	}
	return slices.Contains(holders, holder), again, err
}

// seize takes the lock or fails, for Start.
func (e contender) seize(ctx context.Context) error {
	t, l, err := e.acquire(ctx, Fence{})
	if err != nil {
		return fmt.Errorf("acquire the scheduler lock %q: %w", e.cfg.Lock, err)
	}
	if t == nil {
		e.owed = false
		return &HeldError{Lock: l}
	}
	e.begin(t)
	return nil
}

// acquire returns a term, or the lock as it was read if somebody else holds it.
func (e contender) acquire(ctx context.Context, over Fence) (*Term, Lock, error) {
	e.owed = true // also if the answer is lost
	begun := time.Now()
	l, ok, err := e.store.Acquire(ctx, e.cfg.claim(e.highest, over))
	if err != nil {
		return nil, l, err
	}
	e.look(l)
	if !ok {
		return nil, l, nil
	}
	crashpoint.At("lock/held")
	return newTerm(l.Fence(), begun, e.cfg.trust()), l, nil
}

// begin makes a term the current one.
func (e contender) begin(t *Term) {
	e.mu.Lock()
	e.term, e.why = t, expired
	close(e.changed)
	e.changed = make(chan struct{})
	e.mu.Unlock()
	e.shown = ""
	e.observe(Event{Kind: EventLeading, Fence: t.Fence()})
}

func (e contender) inspect(ctx context.Context) (Lock, error) {
	l, err := e.store.Inspect(ctx, e.cfg.Lock)
	if err == nil {
		e.look(l)
	}
	return l, err
}

// look remembers the lock as just read.
func (e contender) look(l Lock) {
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
