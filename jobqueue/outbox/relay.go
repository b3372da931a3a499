package outbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
)

// ErrStarted is returned by Start of a [Relay] or [Consumer] that runs or ran.
var ErrStarted = errors.New("the relay was started already; make a new one")

// Relay hands the events of topics over to a [Publisher]. It is safe for
// concurrent use.
type Relay struct {
	source    Source
	publisher Publisher
	cfg       Config
	holder    string // tells processes of the same name apart

	mu      sync.Mutex
	started bool
	stop    context.CancelFunc // asks to end after the batches in hand
	kill    context.CancelFunc // ends the batches in hand too
	done    chan struct{}
	wake    chan struct{}
}

// New returns a relay that takes messages from source, which is what
// store.DB.Outbox returns, to publisher. It returns an error that names the
// field if the configuration is not valid. It does not touch the database.
func New(source Source, publisher Publisher, cfg Config) (*Relay, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	var boot [6]byte
	_, _ = rand.Read(boot[:]) // never fails
	return &Relay{
		source: source, publisher: publisher, cfg: cfg,
		holder: cfg.Name + "/" + hex.EncodeToString(boot[:]),
		done:   make(chan struct{}), wake: make(chan struct{}, 1),
	}, nil
}

// Start begins to publish and returns at once: it tries again for as long as
// the database cannot be reached. It ends when ctx does, like Stop, or by Stop.
// It returns [ErrStarted] the second time.
func (r *Relay) Start(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		return ErrStarted
	}
	r.started = true
	running, stop := context.WithCancel(ctx)
	working, kill := context.WithCancel(context.WithoutCancel(ctx))
	r.stop, r.kill = stop, kill
	var others sync.WaitGroup
	others.Go(func() {
		r.source.Watch(running, r.Wake, func(err error) { r.fail("watch for events", err) })
	})
	if p, ok := r.source.(Pruner); ok {
		others.Go(func() { r.prune(running, p) })
	}
	go func() {
		defer close(r.done)
		defer others.Wait()
		defer kill()
		defer stop()
		r.loop(running, working)
	}()
	return nil
}

// Stop records what the batches in hand have come to, gives the leases back and
// waits for the goroutines. If ctx ends before that, the batches are given up
// (their leases expire, they are published again) and ctx's error returned. A
// relay that was never started, or has been stopped, stops at once.
func (r *Relay) Stop(ctx context.Context) error {
	r.mu.Lock()
	if !r.started {
		r.started = true // it cannot be started any more
		close(r.done)
	}
	stop, kill := r.stop, r.kill
	r.mu.Unlock()
	if stop == nil {
		return nil
	}
	stop()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		kill()
		<-r.done
		return fmt.Errorf("stop the relay: %w", ctx.Err())
	}
}

// Done is closed when the relay has ended.
func (r *Relay) Done() <-chan struct{} { return r.done }

// Wake has the relay look at the database now. It never blocks.
func (r *Relay) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // a wake-up is waiting already
	}
}

func (r *Relay) notify(n Notice) {
	logNotice(r.cfg.Logger, n)
	if r.cfg.Observe != nil {
		r.cfg.Observe(n)
	}
}

func (r *Relay) fail(doing string, err error) {
	r.notify(Notice{Kind: NoticeTrouble, Doing: doing, Err: err})
}

func (r *Relay) terms() Terms {
	return Terms{Lease: r.cfg.Lease, Limit: r.cfg.BatchSize, Bytes: r.cfg.BatchBytes}
}
