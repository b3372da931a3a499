package leader

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nextrun/nextrun/internal/service"
)

// Elector contends for a lock and keeps it. It is safe for concurrent use.
type Elector struct {
	store    Store
	cfg      Config
	life     *service.Lifecycle
	starting sync.Mutex // held by Start
	leaveErr error      // what leave returned; to be read when the goroutine has ended

	mu      sync.Mutex
	term    *Term         // nil: somebody else's, or nobody's
	err     error         // why the elector has ended; nil: it has not
	changed chan struct{} // closed when a term begins, or the elector ends
	seen    Lock          // as last read

	// Owned by the goroutine; before it runs, by Start.
	claimed   Fence  // the last claim: it may have the row
	announced string // holder of the last EventStandby
	retry     service.Backoff
}

// New returns an elector over a store. It returns an error that names the
// field if the configuration is not valid. It does not touch the database.
func New(store Store, cfg Config) (*Elector, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if !validName(cfg.Holder) {
		return nil, fmt.Errorf("leader.Config.Holder is %q; use %s", cfg.Holder, goodName)
	}
	cfg.Terms = cfg.WithDefaults()
	if stall := store.Stall(); stall > cfg.TTL*2/3 {
		return nil, fmt.Errorf("leader.Terms.TTL is %s; use %s or more, one and a half times the time for which a stopped process "+
			"can keep the lock's row, or shorten the store's timeouts", cfg.TTL, stall*3/2)
	}
	return &Elector{
		store:   store,
		cfg:     cfg,
		life:    service.New("elector"),
		changed: make(chan struct{}),
		retry:   service.Backoff{Least: cfg.Heartbeat / 20, Most: cfg.Heartbeat},
	}, nil
}

// Start begins to contend and returns at once. An exclusive elector
// acquires the lock first. If somebody else holds it, Start returns a [*HeldError];
// if the database fails, Start returns that error. It can then be called again. The
// end of ctx ends that attempt only; Stop ends the elector. A second Start returns
// an error that wraps [ErrStarted].
func (e *Elector) Start(ctx context.Context) error {
	if !e.starting.TryLock() {
		return ErrStarted
	}
	defer e.starting.Unlock()
	if e.life.Started() {
		return ErrStarted
	}
	if e.cfg.Exclusive {
		if err := (contender{e}).attempt(ctx); err != nil {
			return err
		}
	}
	err := e.life.Start(context.WithoutCancel(ctx), func(soft, hard context.Context) {
		contender{e}.run(soft)
		e.leaveErr = e.leave(hard)
	}, func(soft context.Context) {
		e.store.Watch(soft, e.cfg.Holder, e.life.Wake, func(err error) { e.fail("watch the lock", err) })
	})
	if err != nil { // Stop was called while Start took the lock
		return errors.Join(err, e.leave(ctx))
	}
	return nil
}

// Stop ends the term, releases the lock and waits for the goroutines. If the
// release fails, or ctx ends before it, the error is returned and the lock
// expires by itself. End whatever relies on the lock before. An elector that
// was never started, or has been stopped, stops at once.
func (e *Elector) Stop(ctx context.Context) error {
	err := e.life.Stop(ctx)
	if e.leaveErr == nil {
		return nil // released, even if ctx has ended since
	}
	return errors.Join(e.leaveErr, err)
}

// leave ends the term and releases the lock.
func (e *Elector) leave(ctx context.Context) error {
	_, led := e.Term()
	e.end(ErrStopped)
	err := e.release(ctx)
	if err == nil && led {
		e.observe(Event{Kind: EventReleased, Lock: e.Seen()})
	}
	return err
}

// Term returns the current term, and whether there is one.
func (e *Elector) Term() (*Term, bool) {
	e.mu.Lock()
	t := e.term
	e.mu.Unlock()
	return t, t != nil && t.Holds()
}

// Seen returns the lock as this elector last saw it: for people, and out of
// date by up to a Heartbeat.
func (e *Elector) Seen() Lock {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen
}

// Await waits for a term. It returns ctx's error, a [*HeldError] if an
// exclusive elector was superseded, or [ErrStopped].
func (e *Elector) Await(ctx context.Context) (*Term, error) {
	for {
		e.mu.Lock()
		t, err, changed := e.term, e.err, e.changed
		e.mu.Unlock()
		if t != nil && t.Holds() {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// end ends the term and all waiting for one, for good.
func (e *Elector) end(why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.term != nil {
		e.term.End()
		e.term = nil
	}
	if e.err == nil {
		e.err = why
		close(e.changed)
	}
}

// release deletes the row, if it may be ours.
func (e *Elector) release(ctx context.Context) error {
	if e.claimed == (Fence{}) {
		return nil
	}
	if _, err := e.store.Release(ctx, e.claimed); err != nil {
		return fmt.Errorf("release the scheduler lock %q; it expires by itself within %s: %w", e.cfg.Name, e.cfg.TTL, err)
	}
	e.claimed = Fence{}
	return nil
}

func (e *Elector) observe(event Event) {
	if e.cfg.Observe != nil {
		e.cfg.Observe(event)
	}
}

// fail reports an error that does not end the elector.
func (e *Elector) fail(doing string, err error) {
	if !errors.Is(err, context.Canceled) {
		e.observe(Event{Kind: EventError, Doing: doing, Err: err})
	}
}

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	EventLeading  EventKind = "leading"  // the lock was acquired: a term begins
	EventStandby  EventKind = "standby"  // somebody else holds the lock; once for each holder
	EventLost     EventKind = "lost"     // the term ended before the elector was stopped
	EventReleased EventKind = "released" // the lock was released, at the end
	EventError    EventKind = "error"    // something failed and will be tried again
)

// Event is something that happened to an [Elector]. Which fields are set depends
// on Kind.
type Event struct {
	Kind  EventKind
	Lock  Lock   // the lock as last read; leading, lost, released: of the term
	Doing string // error: what was attempted
	Err   error  // error; lost: why
}
